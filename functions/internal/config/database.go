package config

import (
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// poolerPort is where Supabase's pooler hands out connections per transaction.
const poolerPort = "6543"

// privileged are the logins that row level security does not stop, or that can become one of those.
// Whether the login that is left is a superuser or has BYPASSRLS is asked of the database at start.
var privileged = []string{
	"postgres", "root", "supabase_admin", "supabase_auth_admin", "supabase_storage_admin",
	"supabase_replication_admin", "supabase_read_only_user", "dashboard_user", "service_role", "authenticator",
}

// isDirect matches the host of a project's own Postgres. It has no IPv4 address unless one is paid for.
var isDirect = regexp.MustCompile(`^db\.[a-z0-9]+\.supabase\.(co|in|red)\.?$`)

// parameters are what may follow the "?" of the address. Others would set what we set ourselves (the
// role, the statement cache, the search path) or are refused by poolers.
var parameters = []string{"application_name", "connect_timeout", "host", "sslmode", "sslrootcert"}

// database is the checked address of the runtime login and the pool mode that fits it.
func (e *environment) database() (Secret, PoolMode) {
	isLambda := e.text(lambdaFunction) != ""
	mode := choice(e, poolMode, "", map[string]PoolMode{"direct": Direct, "transaction": Transaction})
	if e.getenv(databaseURL) == "" {
		e.fault(databaseURL, "is missing: set the address of the runtime login")
	}
	v := e.text(databaseURL)
	if v == "" {
		return "", mode
	}
	u, err := url.Parse(v)
	if err != nil || (u.Scheme != "postgres" && u.Scheme != "postgresql") || strings.Contains(u.Host, ",") {
		// The text of err quotes the address.
		e.fault(databaseURL, "is not a postgres:// address of one host: percent-encode what is special in the password")
		return "", mode
	}
	if u.Port() == poolerPort {
		if mode == Direct {
			e.fault(poolMode, "is direct, but "+databaseURL+" names the port of the transaction pooler")
		}
		mode = Transaction
	}
	if mode == "" {
		mode = Direct
	}
	e.login(u)
	e.transport(u)
	if isDirect.MatchString(strings.ToLower(u.Hostname())) && isLambda {
		e.fault(databaseURL, "names the project's own host, which has an IPv6 address only that Lambda can't reach: "+
			"use the transaction pooler, port "+poolerPort+" of its host in Connect, Transaction pooler")
	}
	return Secret(u.String()), mode
}

// login refuses the logins that see every brand.
func (e *environment) login(u *url.URL) {
	// The pooler reads "login.project".
	name, _, _ := strings.Cut(strings.ToLower(u.User.Username()), ".")
	switch {
	case name == "":
		e.fault(databaseURL, "names no login")
	case slices.Contains(privileged, name):
		e.fault(databaseURL, "names a login that row level security does not stop: use the runtime login")
	}
}

// transport makes sure that the password and the rows of a remote database travel encrypted. Drivers
// would otherwise try TLS and go on without.
func (e *environment) transport(u *url.URL) {
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil || u.Fragment != "" {
		e.fault(databaseURL, "can't be read to its end: percent-encode what is special in the password")
		return
	}
	for name, values := range query {
		if !slices.Contains(parameters, name) || len(values) != 1 {
			e.fault(databaseURL, "may have these parameters, each once: "+strings.Join(parameters, ", "))
			return
		}
	}
	host := u.Hostname()
	if socket := query.Get("host"); socket != "" {
		if host != "" || !strings.HasPrefix(socket, "/") {
			e.fault(databaseURL, "may name a host as a parameter only for the folder of a socket")
			return
		}
		host = "localhost"
	}
	switch mode := query.Get("sslmode"); {
	case host == "":
		e.fault(databaseURL, "names no host")
	case isLoopback(host) || mode == "require" || mode == "verify-ca" || mode == "verify-full":
	case mode == "":
		query.Set("sslmode", "require")
		u.RawQuery = query.Encode()
	default:
		e.fault(databaseURL, "lets a remote database be reached without TLS: use sslmode=require or verify-full")
	}
}

// isLoopback says that packets to host stay on this machine.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
