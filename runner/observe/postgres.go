package observe

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"headroom/store/record"
)

// Postgres reads what a PostgreSQL server shows of itself, over one connection
// of its own, which it makes when it is first asked and again after a failure.
type Postgres struct {
	config *pgx.ConnConfig
	conn   *pgx.Conn
}

// postgresSeries are the columns of postgresQuery, in order. Counters count
// since the server's statistics were last reset.
var postgresSeries = []record.SeriesInfo{
	{Name: "pg.connections", Unit: "count"},
	{Name: "pg.active", Unit: "count"},
	{Name: "pg.waiting_for_lock", Unit: "count"},
	{Name: "pg.idle_in_transaction", Unit: "count"},
	{Name: "pg.oldest_transaction_seconds", Unit: "seconds"},
	{Name: "pg.commits", Unit: "count"},
	{Name: "pg.rollbacks", Unit: "count"},
	{Name: "pg.deadlocks", Unit: "count"},
	{Name: "pg.blocks_read", Unit: "count"},
	{Name: "pg.blocks_hit", Unit: "count"},
	{Name: "pg.temp_bytes", Unit: "bytes"},
	{Name: "pg.dead_rows", Unit: "count"},
	{Name: "pg.live_rows", Unit: "count"},
	{Name: "pg.database_bytes", Unit: "bytes"},
}

// The connections are those of the whole server, our own included, because its
// limit counts them all; the rest is about the database of the address.
const postgresQuery = `
SELECT a.connections, a.active, a.waiting, a.idle_in_transaction, a.oldest,
       d.xact_commit::float8, d.xact_rollback::float8, d.deadlocks::float8,
       d.blks_read::float8, d.blks_hit::float8, d.temp_bytes::float8,
       t.dead, t.live, pg_database_size(d.datid)::float8
FROM pg_stat_database d,
     (SELECT count(*)::float8 AS connections,
             (count(*) FILTER (WHERE state = 'active' AND pid <> pg_backend_pid()))::float8 AS active,
             (count(*) FILTER (WHERE wait_event_type = 'Lock'))::float8 AS waiting,
             (count(*) FILTER (WHERE state LIKE 'idle in transaction%'))::float8 AS idle_in_transaction,
             coalesce(extract(epoch FROM max(clock_timestamp() - xact_start)
                              FILTER (WHERE pid <> pg_backend_pid())), 0)::float8 AS oldest
      FROM pg_stat_activity WHERE backend_type = 'client backend') a,
     (SELECT coalesce(sum(n_dead_tup), 0)::float8 AS dead,
             coalesce(sum(n_live_tup), 0)::float8 AS live
      FROM pg_stat_user_tables) t
WHERE d.datname = current_database()`

// NewPostgres makes a collector for the server and database of a connection
// string. It does not connect. Errors never hold the address.
func NewPostgres(dsn string) (*Postgres, error) {
	c, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, errors.New("postgres: the address can't be read; write postgres://user:password@host:port/database")
	}
	c.RuntimeParams["application_name"] = "headroom"
	c.RuntimeParams["statement_timeout"] = "4000"
	// One round trip, and no prepared statement that a pooler would lose.
	c.DefaultQueryExecMode = pgx.QueryExecModeExec
	return &Postgres{config: c}, nil
}

// Series implements Collector.
func (p *Postgres) Series() []record.SeriesInfo {
	all := make([]record.SeriesInfo, len(postgresSeries))
	for i, s := range postgresSeries {
		s.ID, s.Source = i, "postgres"
		all[i] = s
	}
	return all
}

// Collect implements Collector.
func (p *Postgres) Collect(ctx context.Context, at int64) ([]record.Sample, error) {
	if p.conn == nil {
		conn, err := pgx.ConnectConfig(ctx, p.config.Copy())
		if err != nil {
			return nil, errors.New("postgres: no connection")
		}
		p.conn = conn
	}
	values := make([]float64, len(postgresSeries))
	into := make([]any, len(values))
	for i := range values {
		into[i] = &values[i]
	}
	if err := p.conn.QueryRow(ctx, postgresQuery).Scan(into...); err != nil {
		_ = p.Close()
		return nil, errors.New("postgres: the statistics can't be read")
	}
	samples := make([]record.Sample, len(values))
	for i, v := range values {
		samples[i] = record.Sample{Series: i, AtNS: at, Value: v}
	}
	return samples, nil
}

// Close ends the connection.
func (p *Postgres) Close() error {
	if p.conn == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), readingLimit)
	defer cancel()
	err := p.conn.Close(ctx)
	p.conn = nil
	return err
}
