// Shop is a small service on PostgreSQL: two workers, each with a connection of
// its own, that do 20 ms of work for a request, so that its capacity is a
// little below 100 requests per second.
package main

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"os"

	"github.com/jackc/pgx/v5"
)

func main() {
	ctx := context.Background()
	workers := make(chan *pgx.Conn, 2)
	for range cap(workers) {
		c, err := pgx.Connect(ctx, os.Getenv("SHOP_DSN"))
		if err != nil {
			log.Fatal(err)
		}
		workers <- c
	}
	http.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	http.HandleFunc("/customers/{id}/orders", func(w http.ResponseWriter, r *http.Request) {
		var c *pgx.Conn
		select {
		case c = <-workers:
		case <-r.Context().Done():
			return
		}
		defer func() { workers <- c }()
		var n int
		err := c.QueryRow(ctx, "select count(*) from orders where customer = $1 and pg_sleep(0.02) is not null", r.PathValue("id")).Scan(&n)
		if err == nil && n == 0 {
			_, err = c.Exec(ctx, "select pg_sleep(0.02)")
		}
		if err != nil {
			http.Error(w, "database", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"customer": r.PathValue("id"), "orders": n})
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}
