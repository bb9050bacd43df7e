package foreign

// pointFormat is one reader of aggregates.
type pointFormat struct{ name string }

func pointFormats() []pointFormat { return nil }

// PointFormats names the formats that become points of the trend.
func PointFormats() []string { return nil }
