package theme

// Glyphs are the signs that are not letters. Each is one cell wide.
type Glyphs struct {
	Live, Syncing, Warn, Cross, Tick, Unknown, Dot string
	Held, Cursor, Open, Closed, Gone, Marked       string
	Ellipsis, Arrow, Crumb, Dash, Minus, Caret     string
	// Own, Borrowed, Lendable and Private fill a bar of quota.
	Own, Borrowed, Lendable, Private string
	// The frame of a dialog.
	TopLeft, TopRight, BottomLeft, BottomRight, Flat, Upright string
	// Branch and Last lead to a member of a tree and to its last one.
	Branch, Last string
	// Up and Down say that there is more to scroll to.
	Up, Down string
	// Spark draws a figure over time, from nothing to the most.
	Spark [8]string
}

var unicode = Glyphs{
	Live: "●", Syncing: "◌", Warn: "▲", Cross: "✗", Tick: "✓", Unknown: "?", Dot: "·",
	Held: "‖", Cursor: "▸", Open: "▾", Closed: "▸", Gone: "×", Marked: "•",
	Ellipsis: "…", Arrow: "→", Crumb: "›", Dash: "–", Minus: "−", Caret: "▏",
	Own: "█", Borrowed: "▓", Lendable: "░", Private: "▒",
	TopLeft: "┌", TopRight: "┐", BottomLeft: "└", BottomRight: "┘", Flat: "─", Upright: "│",
	Branch: "├", Last: "└",
	Up: "↑", Down: "↓", Spark: [8]string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
}

var asciiOnly = Glyphs{
	Live: "*", Syncing: "o", Warn: "!", Cross: "x", Tick: "+", Unknown: "?", Dot: ".",
	Held: "=", Cursor: ">", Open: "v", Closed: ">", Gone: "x", Marked: "*",
	Ellipsis: "~", Arrow: ">", Crumb: ">", Dash: "-", Minus: "-", Caret: "_",
	Own: "#", Borrowed: "+", Lendable: ".", Private: ":",
	TopLeft: "+", TopRight: "+", BottomLeft: "+", BottomRight: "+", Flat: "-", Upright: "|",
	Branch: "|", Last: "`",
	Up: "^", Down: "v", Spark: [8]string{"_", ".", "-", "~", "=", "+", "*", "#"},
}
