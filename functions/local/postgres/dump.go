package postgres

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
)

// DumpSchema returns what pg_dump --schema-only says of the schemas of a database. Only a server
// started here has a pg_dump of its own version.
func (s *Server) DumpSchema(ctx context.Context, database string, schemas ...string) (string, error) {
	if s.cluster == nil {
		return "", errors.New("dump schema: the server was not started here")
	}
	args := []string{"--schema-only", "--no-password", "--restrict-key=porchlight", "--dbname=" + database}
	for _, schema := range schemas {
		args = append(args, "--schema="+schema)
	}
	cmd := exec.CommandContext(ctx, s.cluster.binary("pg_dump"), args...)
	s.cluster.dress(cmd)
	password, _ := s.address.User.Password()
	cmd.Env = append(cmd.Env, "PGHOST="+s.address.Hostname(), "PGPORT="+s.address.Port(),
		"PGUSER="+s.address.User.Username(), "PGPASSWORD="+password)
	schema, err := cmd.Output()
	var refused *exec.ExitError
	if errors.As(err, &refused) {
		return "", fmt.Errorf("dump schema: %w: %s", err, refused.Stderr)
	}
	return string(schema), err
}
