package fetch

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// Sight is what is known of a page when its text has been read.
type Sight struct {
	Status       int    // of the last hop
	Asked, Final string // URLs
	Title        string // may be empty
	Characters   int    // of the text without markup
	Before       int    // characters of the last good version; 0 where there is none
	HasPassword  bool   // see HasPassword
}

// Suspicion says why a page is probably not the document that was asked for. A page under suspicion
// should not replace a good version.
type Suspicion string

// The suspicions. NoSuspicion is that of a page which looks like a document.
const (
	NoSuspicion   Suspicion = ""
	NotAPage      Suspicion = "not_a_page"     // its status is not 200
	LoginWall     Suspicion = "login_wall"     // it wants a name and a password
	ConsentPage   Suspicion = "consent_page"   // it wants consent first
	NotFoundPage  Suspicion = "not_found_page" // it says with status 200 that there is nothing
	MovedToTheTop Suspicion = "moved_to_top"   // the first page of a site came instead
	NearlyEmpty   Suspicion = "nearly_empty"   // hardly any text, such as a page that scripts fill
	Collapsed     Suspicion = "collapsed"      // a small part of what it was
)

// The bounds of Suspect. A wall is short: a document with a login box in its corner is longer. The
// least is little for Latin letters, since one Chinese character is about a word.
const (
	mostOfAWall  = 1500 // characters
	leastOfAPage = 60   // characters
	collapsedTo  = 4    // a page is collapsed below a quarter
)

// Where walls stand, in any language: these are habits of software, not words for readers.
var (
	loginPlace   = regexp.MustCompile(`(?i)(?:^|[./_-])(?:log-?in|sign-?in|log-?on|sso|saml2?|oauth2?|openid|sessions?/new|wp-login\.php|servicelogin)(?:[./?_-]|$)`)
	consentPlace = regexp.MustCompile(`(?i)(?:^|[./_-])(?:consent|collectconsent|cookie-?(?:wall|consent)|privacy-?gate|gdpr|age-?gate)(?:[./?_-]|$)`)
)

// Titles of walls in the languages that the web writes most. They count on short pages alone.
var (
	loginTitle    = regexp.MustCompile(`(?i)^\W*(?:log ?in|sign ?in|please (?:log|sign) in|anmelden|anmeldung|einloggen|iniciar sesi[oó]n|inicia sesi[oó]n|acceder|connexion|se connecter|identifiez-vous|accedi|accesso|entrar|iniciar sess[aã]o|inloggen|aanmelden|zaloguj|logowanie|logga in|log ind|logg inn|kirjaudu|přihlášení|bejelentkezés|autentificare|вход|войти|увійти|giriş|oturum aç|تسجيل الدخول|ログイン|サインイン|登录|登入|로그인)`)
	consentTitle  = regexp.MustCompile(`(?i)^\W*(?:before you continue|cookie consent|we value your privacy|your privacy choices|bevor sie (?:fortfahren|weiter)|avant d.accéder|antes de continuar|prima di continuare|voordat je verdergaat)`)
	notFoundTitle = regexp.MustCompile(`(?i)\b(?:404|410)\b|\b(?:page|seite|página|pagina) (?:not found|nicht gefunden|introuvable|no encontrada|não encontrada|non trovata|niet gevonden)\b|\bnot found\b`)
)

// Suspect judges a page by where it came from and how much of it there is. It reads no sentence, so it
// holds for any language; a title only helps. // O10
func Suspect(s Sight) Suspicion {
	moved := pathOf(s.Asked) != pathOf(s.Final)
	isShort := s.Characters < mostOfAWall
	switch {
	case s.Status != http.StatusOK:
		return NotAPage
	case moved && loginPlace.MatchString(pathOf(s.Final)),
		isShort && (s.HasPassword || loginTitle.MatchString(s.Title)):
		return LoginWall
	case moved && consentPlace.MatchString(pathOf(s.Final)), isShort && consentTitle.MatchString(s.Title):
		return ConsentPage
	case isShort && notFoundTitle.MatchString(s.Title):
		return NotFoundPage
	case moved && isTop(s.Final) && !isTop(s.Asked):
		return MovedToTheTop
	case s.Characters < leastOfAPage:
		return NearlyEmpty
	case s.Characters < s.Before/collapsedTo:
		return Collapsed
	}
	return NoSuspicion
}

// pathOf returns host and path of a URL, the part that says where a page stands.
func pathOf(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(u.Hostname()+u.Path, "/")
}

func isTop(rawURL string) bool { return !strings.Contains(pathOf(rawURL), "/") }

var passwordField = regexp.MustCompile(`(?i)<input\b[^>]{0,1000}\btype\s*=\s*["']?password\b`)

// HasPassword says that HTML has a field for a password.
func HasPassword(html []byte) bool { return passwordField.Match(html) }
