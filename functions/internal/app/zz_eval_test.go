package app

import (
	"context"
	"encoding/json"
	"os"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/jackc/pgx/v5"

	"porchlight/functions/internal/config"
	"porchlight/functions/internal/ingest"
	"porchlight/functions/internal/store"
	"porchlight/functions/local/postgres"
)

func TestZZ(t *testing.T) {
	ctx := context.Background()
	srv, err := postgres.Start(ctx, postgres.Options{Fast: true})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Stop()
	if err := srv.Prepare(ctx); err != nil {
		t.Fatal(err)
	}
	db, _ := store.Open(ctx, store.Options{URL: srv.URL("postgres", "postgres")})
	cache, _ := postgres.CacheDir()
	x, err := OpenIndexer(ctx, config.Config{LocalModelDir: cache})
	if err != nil {
		t.Fatal(err)
	}
	out, _ := os.Create("/tmp/ev/scores.jsonl")
	enc := json.NewEncoder(out)
	conn, err := pgx.Connect(ctx, srv.AdminURL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range []string{"glowmere-energy", "skeinwick-fibre"} {
		dir := "../../../tests/corpora/" + b
		fsys := os.DirFS(dir)
		brand, err := ingest.ReadBrand(fsys)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.RegisterTenant(ctx, store.Service(""), brand); err != nil {
			t.Fatal(err)
		}
		if _, err := x.Index(ctx, Job{Store: db, Principal: store.Service(b), Selection: ingest.Selection{All: true}, Folder: func(string) string { return dir }}); err != nil {
			t.Fatal(err)
		}
		var qs []map[string]any
		text, _ := os.ReadFile(dir + "/questions.yaml")
		if err := yaml.Unmarshal(text, &qs); err != nil {
			t.Fatal(err)
		}
		for _, q := range qs {
			v, err := x.models.queries[0].EmbedQuery(ctx, q["question"].(string))
			if err != nil {
				t.Fatal(err)
			}
			vec, _ := json.Marshal(v)
			rows, err := conn.Query(ctx, `with s as (select * from private.similarities_local((select id from app.tenants where slug=$1), $2::text::extensions.vector)),
			 q as (select * from private.question_terms((select id from app.tenants where slug=$1), $3)),
			 l as (select l.* from s, q, private.lexical_scores((select id from app.tenants where slug=$1), q.words, q.lexemes, cardinality(s.ids)) l),
			 r as (select r.* from s, q, private.rank_chunks((select id from app.tenants where slug=$1), 'local', s.ids, s.similarities, q.words, q.lexemes, null, 6, now()) r)
			 select so.source_key, r.heading_path, r.similarity, r.score, coalesce(l.matched,0), coalesce(l.total,(select max(total) from l),0), r.is_relevant, r.language from r join app.sources so on so.id = r.source_id left join l on l.chunk_id = r.chunk_id order by r.score desc`, b, string(vec), q["question"])
			if err != nil {
				t.Fatal(err)
			}
			var hits []map[string]any
			for rows.Next() {
				var key, h, lang string
				var sim, score, m, tot float64
				var rel bool
				if err := rows.Scan(&key, &h, &sim, &score, &m, &tot, &rel, &lang); err != nil {
					t.Fatal(err)
				}
				hits = append(hits, map[string]any{"key": key, "h": h, "sim": sim, "score": score, "m": m, "t": tot, "rel": rel, "lang": lang})
			}
			if rows.Err() != nil {
				t.Fatal(rows.Err())
			}
			q["brand"], q["hits"] = b, hits
			enc.Encode(q)
		}
	}
}
