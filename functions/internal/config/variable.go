package config

// Variable is one name that the environment may hold, as --help and the documentation show it.
type Variable struct {
	Name     string
	Meaning  string
	Default  string // what stands in when it is not set; empty: nothing does
	Required bool
	Secret   bool
}

const (
	databaseURL    = "PORCHLIGHT_DATABASE_URL"
	poolMode       = "PORCHLIGHT_POOL_MODE"
	maxConnections = "PORCHLIGHT_MAX_CONNECTIONS"
	supabaseURL    = "SUPABASE_URL"
	jwtIssuer      = "PORCHLIGHT_JWT_ISSUER"
	jwksURL        = "PORCHLIGHT_JWKS_URL"
	jwtSecret      = "PORCHLIGHT_JWT_HS256_SECRET"
	jwtAllowHS256  = "PORCHLIGHT_JWT_ALLOW_HS256"
	geminiKey      = "GEMINI_API_KEY"
	googleKey      = "GOOGLE_API_KEY"
	poolKeys       = "PORCHLIGHT_POOL_KEYS"
	geminiBaseURL  = "GEMINI_BASE_URL"
	localModelDir  = "PORCHLIGHT_LOCAL_MODEL_DIR"
	libraryDir     = "PORCHLIGHT_LIBRARY_DIR"
	allowedOrigins = "PORCHLIGHT_ALLOWED_ORIGINS"
	logLevel       = "PORCHLIGHT_LOG_LEVEL"
	lambdaFunction = "AWS_LAMBDA_FUNCTION_NAME"
)

// Describe lists every variable that Load reads, in the order in which people set them.
func Describe() []Variable {
	return []Variable{
		{Name: databaseURL, Required: true, Secret: true, Meaning: "postgres:// address of the runtime login, never of an owner or superuser; a remote host gets sslmode=require unless it asks for more"},
		{Name: poolMode, Default: "transaction for port 6543, else direct", Meaning: "what stands between us and Postgres: transaction (a pooler that hands out connections per transaction) or direct"},
		{Name: maxConnections, Default: "4", Meaning: "most connections of one process, 1 to 100"},
		{Name: supabaseURL, Meaning: "address of the Supabase project; issuer and keys of access tokens follow from it. Required unless the next two are set"},
		{Name: jwtIssuer, Meaning: "issuer of access tokens, in place of " + supabaseURL},
		{Name: jwksURL, Meaning: "where the issuer's public keys are, in place of " + supabaseURL},
		{Name: jwtAllowHS256, Default: "false", Meaning: "true accepts access tokens signed with a shared secret too"},
		{Name: jwtSecret, Secret: true, Meaning: "that shared secret, at least 32 bytes; only with " + jwtAllowHS256 + "=true"},
		{Name: geminiKey, Secret: true, Meaning: "key of the Gemini API; without it answers are extractive and the local index is searched"},
		{Name: googleKey, Secret: true, Meaning: "another name for " + geminiKey},
		{Name: poolKeys, Secret: true, Meaning: "keys of the Gemini API for brands with a quota_pool of their own, such as demo=KEY,trial=KEY; without one such a brand has extractive answers"},
		{Name: geminiBaseURL, Default: "the provider's own", Meaning: "another address of the Gemini API"},
		{Name: localModelDir, Meaning: "folder of the local embedding model; without it there is no local index"},
		{Name: libraryDir, Meaning: "folder with one folder of documents a brand, for reindexing"},
		{Name: allowedOrigins, Meaning: "browser origins that may call us, separated by commas, such as https://app.example; without it none may"},
		{Name: lambdaFunction, Meaning: "set by AWS Lambda itself: the database must then be reachable over IPv4"},
		{Name: logLevel, Default: "info", Meaning: "debug, info, warn or error"},
	}
}
