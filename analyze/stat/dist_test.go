package stat

import (
	"testing"

	"pgregory.net/rapid"
)

func TestQuantileTables(t *testing.T) {
	near(t, "t(.975, 9)", StudentQuantile(0.975, 9), 2.2621571628, 1e-9)
	near(t, "t(.5, 3)", StudentQuantile(0.5, 3), 0, 1e-12)
	near(t, "t tail", StudentUpperTail(2.2621571628, 9), 0.025, 1e-9)
	relative(t, "far t tail", StudentUpperTail(40, 18), 2.6e-19, 0.5)
	near(t, "z(.975)", NormalQuantile(0.975), 1.9599639845, 1e-9)
	near(t, "z tail", NormalUpperTail(2.3263478740), 0.01, 1e-9)
	near(t, "chi2(.95, 3)", ChiSquaredQuantile(0.95, 3), 7.8147279033, 1e-9)
	near(t, "chi2 tail", ChiSquaredUpperTail(7.3388328001, 3), 0.0618473872, 1e-9)
	near(t, "chi2 tail at 0", ChiSquaredUpperTail(0, 3), 1, 0)
}

// METHODS F3.
func TestClopperPearson(t *testing.T) {
	iv, ok := ClopperPearson(12, 100000, 0.95)
	if !ok {
		t.Fatal("not ok")
	}
	relative(t, "12/100000 low", iv[0], 6.20072e-5, 1e-5)
	relative(t, "12/100000 high", iv[1], 2.096065e-4, 1e-6)
	u, _ := ClopperPearsonUpper(0, 1000, 0.95)
	relative(t, "0/1000 one-sided", u, 0.0029912495, 1e-7)
	u, _ = ClopperPearsonUpper(0, 100000, 0.95)
	relative(t, "0/100000 one-sided", u, 2.995687e-5, 1e-6)

	for _, c := range []struct{ k, n uint64 }{{0, 0}, {2, 1}} {
		if _, ok := ClopperPearson(c.k, c.n, 0.95); ok {
			t.Errorf("%d of %d must not be ok", c.k, c.n)
		}
		if _, ok := ClopperPearsonUpper(c.k, c.n, 0.95); ok {
			t.Errorf("%d of %d must not be ok", c.k, c.n)
		}
	}
	if iv, _ := ClopperPearson(7, 7, 0.95); iv[1] != 1 {
		t.Errorf("all of 7: high = %v", iv[1])
	}
}

func TestClopperPearsonHoldsTheShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(1, 1e6).Draw(t, "n")
		k := rapid.Uint64Range(0, n).Draw(t, "k")
		p := float64(k) / float64(n)
		iv, ok := ClopperPearson(k, n, 0.95)
		if !ok || !(0 <= iv[0] && iv[0] <= p && p <= iv[1] && iv[1] <= 1) {
			t.Fatalf("%d of %d: %v, %v", k, n, iv, ok)
		}
	})
}

func TestDomainMistakesPanic(t *testing.T) {
	for name, f := range map[string]func(){
		"probability 0":   func() { NormalQuantile(0) },
		"probability 1":   func() { StudentQuantile(1, 3) },
		"no freedom":      func() { StudentQuantile(0.5, 0) },
		"confidence 95":   func() { ClopperPearson(1, 2, 95) },
		"MSER over no m":  func() { MSER([]float64{1}, 0) },
		"chi2 df below 0": func() { ChiSquaredUpperTail(1, -1) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}
