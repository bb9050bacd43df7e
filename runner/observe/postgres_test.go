package observe

import (
	"context"
	"os"
	"strings"
	"testing"
)

var _ Collector = (*Postgres)(nil)

func TestPostgresWithoutAServer(t *testing.T) {
	if _, err := NewPostgres("postgres://secret:pw@[x"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v; want one without the address", err)
	}
	p, err := NewPostgres("postgres://secret:pw@127.0.0.1:1/db?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Collect(context.Background(), 0); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v; want one without the address", err)
	}
	for i, s := range p.Series() {
		if s.ID != i || s.Unit == "" || !strings.HasPrefix(s.Name, "pg.") {
			t.Errorf("series %d is %+v", i, s)
		}
	}
}

func TestPostgres(t *testing.T) {
	dsn := os.Getenv("HEADROOM_POSTGRES")
	if dsn == "" {
		t.Skip("set HEADROOM_POSTGRES to the address of a PostgreSQL server that may be read")
	}
	p, err := NewPostgres(dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	got, err := p.Collect(context.Background(), 7)
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]float64{}
	for _, s := range got {
		byName[p.Series()[s.Series].Name] = s.Value
	}
	if len(byName) != len(postgresSeries) {
		t.Errorf("%d series read, want %d", len(byName), len(postgresSeries))
	}
	for _, name := range []string{"pg.connections", "pg.database_bytes"} {
		if byName[name] < 1 {
			t.Errorf("%s is %v; want 1 or more", name, byName[name])
		}
	}
	// A lost connection is made again.
	if err := p.conn.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Collect(context.Background(), 8); err == nil {
		t.Error("no error on a closed connection")
	}
	if _, err := p.Collect(context.Background(), 9); err != nil {
		t.Errorf("after a lost connection: %v", err)
	}
}
