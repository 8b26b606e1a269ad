package ingest

import (
	"slices"
	"strings"
)

// outline makes the sections of a page from its headings and blocks, as they come.
type outline struct {
	page  page
	above []heading // the headings above what comes next, outermost first
	ended bool      // a heading was closed: what comes next is in a section of its own
}

type heading struct {
	level int // 1 is the outermost
	text  string
}

// open begins a section under a heading. Headings of its level and below no longer stand above.
func (o *outline) open(level int, text string) {
	o.close(level)
	if text != "" {
		o.above = append(o.above, heading{level, text})
	}
	o.begin()
	if level == 1 && o.page.title == "" {
		o.page.title = text
	}
}

// close takes away the headings of that level and below.
func (o *outline) close(level int) {
	for len(o.above) > 0 && o.above[len(o.above)-1].level >= level {
		o.above = o.above[:len(o.above)-1]
		o.ended = true
	}
}

func (o *outline) begin() {
	section := Section{}
	for _, h := range o.above {
		section.Headings = append(section.Headings, h.text)
	}
	o.page.sections = append(o.page.sections, section)
	o.ended = false
}

// add files blocks under the headings that stand. Empty ones are left out.
func (o *outline) add(blocks ...Block) {
	for _, b := range blocks {
		if strings.TrimSpace(b.Text) == "" {
			continue
		}
		if len(o.page.sections) == 0 || o.ended {
			o.begin()
		}
		section := &o.page.sections[len(o.page.sections)-1]
		section.Blocks = append(section.Blocks, b)
	}
}

// prune takes out the headings under which nothing is written.
func (o *outline) prune() {
	var kept []Section
	for i := len(o.page.sections) - 1; i >= 0; i-- {
		s := o.page.sections[i]
		if len(s.Blocks) > 0 || len(kept) > 0 && hasChild([]Section{s, kept[len(kept)-1]}, 0) {
			kept = append(kept, s)
		}
	}
	slices.Reverse(kept)
	o.page.sections = kept
}
