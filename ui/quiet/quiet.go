// Package quiet keeps bubbletea from talking to the terminal before main.
//
// bubbletea v1 asks lipgloss for the background colour in a package init: it
// writes a query to the terminal and waits up to five seconds for an answer,
// for "version" and shell completion too. Once the answer is set, nobody asks.
// Go initialises packages that are ready in the order of their import paths,
// and this one's sorts before github.com/charmbracelet/bubbletea; it may import
// nothing that bubbletea itself does not need first.
package quiet

import "github.com/charmbracelet/lipgloss"

func init() { lipgloss.SetHasDarkBackground(true) }
