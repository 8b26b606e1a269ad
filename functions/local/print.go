package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
)

// The few styles of the terminal. lipgloss leaves colour out where the output is no terminal or
// NO_COLOR is set.
var (
	plain = lipgloss.NewStyle()
	bold  = lipgloss.NewStyle().Bold(true)
	dim   = lipgloss.NewStyle().Faint(true)
	green = lipgloss.NewStyle().Foreground(lipgloss.Color("2"))
	amber = lipgloss.NewStyle().Foreground(lipgloss.Color("3"))
)

const lineWidth = 92

// block wraps a text, indents each of its lines and then styles it, so that no line ends in blanks.
func block(indent int, style lipgloss.Style, text string) string {
	margin := strings.Repeat(" ", indent)
	lines := strings.Split(ansi.Wordwrap(text, lineWidth-indent, ""), "\n")
	for i, line := range lines {
		lines[i] = margin + style.Render(line)
	}
	return strings.Join(lines, "\n")
}

// printSentences prints the answer itself, once it is whole: a guard may take back what was said.
func printSentences(indent int, r reply) {
	for _, s := range r.Sentences {
		fmt.Println(block(indent, plain, s))
	}
}

// outcomes says what the outcome of a turn means for the person who reads it.
var outcomes = map[string]string{
	"answered": "answered",
	"held":     "held back: the price is not verified in time",
	"no_match": "not in the documents: the brand's own words",
}

// mark is the colour of an outcome.
func (r reply) mark() lipgloss.Style {
	if r.Outcome == "answered" {
		return green
	}
	return amber
}

// footer is the fine print under an answer: date, sources, what made it, and how long it took.
func footer(r reply) string {
	var lines []string
	for _, s := range r.Sources {
		line := "source: " + s.Title
		// most documents begin with their title as a heading
		if heading := strings.TrimPrefix(strings.TrimPrefix(s.Heading, s.Title), " › "); heading != "" {
			line += " › " + heading
		}
		if s.VerifiedAt != nil {
			line += ", verified " + longDate(*s.VerifiedAt)
		}
		lines = append(lines, line)
	}
	model := r.Model
	if model == "" {
		model = "nothing generated"
	}
	index := "nothing searched"
	if r.Index != "" {
		index = r.Index + " index"
	}
	facts := []string{model, index, fmt.Sprintf("%d ms", r.MS.Total)}
	if r.AsOf != nil {
		facts = append([]string{"as of " + longDate(*r.AsOf)}, facts...)
	}
	lines = append(lines, strings.Join(facts, " · "))
	return strings.Join(lines, "\n")
}

func longDate(day string) string {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return day
	}
	return t.Format("2 January 2006")
}

// steps tells what is going on, a line when something begins and a mark when it is done.
type steps struct {
	out   *os.File
	begun time.Time
}

// did says what was done since the last step, with the time that it took.
func (s *steps) did(format string, args ...any) {
	now := time.Now()
	fmt.Fprintf(s.out, "  %s %s %s\n", green.Render("✓"), fmt.Sprintf(format, args...),
		dim.Render(fmt.Sprintf("%.1f s", now.Sub(s.begun).Seconds())))
	s.begun = now
}

// doing says what begins, where it can be seen and does not stay.
func (s *steps) doing(step string) {
	if isTerminal(s.out) {
		fmt.Fprintf(s.out, "\r\x1b[K  %s\r", dim.Render(step+" …"))
	}
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// whisper tells the steps of a long start on standard error, apart from what a command prints.
func whisper(step string) {
	if isTerminal(os.Stderr) {
		fmt.Fprintln(os.Stderr, dim.Render(step+" …"))
	}
}
