package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"porchlight/functions/local/postgres"
)

const database = "bench"

// startServer starts a private Postgres with the schema in a database of its own.
func startServer(ctx context.Context, p *progress) (*postgres.Server, error) {
	p.begin("Starting Postgres")
	server, err := postgres.Start(ctx, postgres.Options{Fast: true})
	if err != nil {
		return nil, err
	}
	if err := server.CreateDatabase(ctx, database); err != nil {
		return nil, errors.Join(err, server.Stop())
	}
	return server, nil
}

// load writes the corpus as the superuser, past triggers and foreign keys: only what is stored counts.
func load(ctx context.Context, conn *pgx.Conn, c *corpus, p *progress) error {
	if _, err := conn.Exec(ctx, nothing+`; set session_replication_role = replica`, pgx.QueryExecModeSimpleProtocol); err != nil {
		return err
	}
	if err := loadBrands(ctx, conn, c.brands); err != nil {
		return fmt.Errorf("load the brands: %w", err)
	}
	list := c.sources()
	p.begin("Loading %d chunks of %d brands", c.total(), len(c.brands))
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `truncate app.sources, app.chunks, app.chunk_embeddings_primary cascade`); err != nil {
			return err
		}
		if err := loadText(ctx, tx.Conn(), c, list); err != nil {
			return err
		}
		p.begin("Loading their vectors of %d dimensions", dimensions)
		return loadVectors(ctx, tx.Conn(), c, list)
	})
	if err != nil {
		return fmt.Errorf("load the corpus: %w", err)
	}
	biggest := searched(c)[len(searched(c))-1]
	p.begin("Filing the words of %s", biggest.slug)
	return loadTerms(ctx, conn, biggest)
}

// searched are the brands that are asked, ascending.
func searched(c *corpus) (list []*brand) {
	for _, b := range c.brands {
		if b.isKept {
			list = append(list, b)
		}
	}
	return list
}

func loadBrands(ctx context.Context, conn *pgx.Conn, brands []*brand) error {
	batch := &pgx.Batch{}
	for _, b := range brands {
		id, user := b.id.String(), b.user.String()
		batch.Queue(`insert into app.tenants (id, slug, name) values ($1::uuid, $2, $2)`, id, b.slug)
		batch.Queue(`insert into app.tenant_limits (tenant_id) values ($1::uuid)`, id)
		batch.Queue(`insert into auth.users (id, email) values ($1::uuid, $2)`, user, "rep@"+b.slug+".example")
		batch.Queue(`insert into app.members (tenant_id, user_id, role) values ($1::uuid, $2::uuid, 'rep')`, id, user)
	}
	return conn.SendBatch(ctx, batch).Close()
}

func loadText(ctx context.Context, conn *pgx.Conn, c *corpus, list []source) error {
	err := copyInto(ctx, conn, "app.sources (tenant_id, id, source_type, source_key, title, language, visibility)",
		func(rows copyRows) {
			for _, s := range list {
				rows.row(7)
				rows.bytes(s.brand.id[:])
				rows.bytes(s.id[:])
				rows.text("article")
				rows.text(s.id.String())
				rows.text("A document of " + s.brand.slug)
				rows.text("en")
				rows.text("tenant")
			}
		})
	if err != nil {
		return err
	}
	return copyInto(ctx, conn, "app.chunks (tenant_id, id, source_id, content, occurrence, language)", func(rows copyRows) {
		for _, s := range list {
			for _, id := range s.chunks {
				rows.row(6)
				rows.bytes(s.brand.id[:])
				rows.bytes(id[:])
				rows.bytes(s.id[:])
				rows.text(c.passage())
				rows.integer(0)
				rows.text("en")
			}
		}
	})
}

// loadVectors keeps those of the brands that are searched, for the plain scan.
func loadVectors(ctx context.Context, conn *pgx.Conn, c *corpus, list []source) error {
	return copyInto(ctx, conn, "app.chunk_embeddings_primary (tenant_id, chunk_id, embedding)", func(rows copyRows) {
		for _, s := range list {
			for _, id := range s.chunks {
				v := c.vector(s.brand)
				rows.row(3)
				rows.bytes(s.brand.id[:])
				rows.bytes(id[:])
				rows.vector(v)
				if s.brand.isKept {
					s.brand.ids = append(s.brand.ids, id.String())
					s.brand.vectors = append(s.brand.vectors, v...)
				}
			}
		}
	})
}

// loadTerms does what the trigger on app.chunks does, for one brand, chunk by chunk as it does.
func loadTerms(ctx context.Context, conn *pgx.Conn, b *brand) error {
	_, err := conn.Exec(ctx, `insert into app.chunk_terms (tenant_id, lexeme, chunk_id, frequency)
		select c.tenant_id, t.lexeme, c.id, sum(t.frequency)
		from app.chunks c, private.terms(c.heading_path || e'\n' || c.content, c.language) t
		where c.tenant_id = $1::uuid
		group by c.tenant_id, t.lexeme, c.id
		order by c.id`, b.id.String())
	if err != nil {
		return fmt.Errorf("file the words: %w", err)
	}
	return nil
}

// settle lets the server finish what a load leaves for later.
func settle(ctx context.Context, conn *pgx.Conn) error {
	if _, err := conn.Exec(ctx, `vacuum analyze`); err != nil {
		return err
	}
	_, err := conn.Exec(ctx, `checkpoint`)
	return err
}
