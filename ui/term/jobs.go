package term

// Ask is what a shell or another program wants of this one.
type Ask uint8

// What can be asked.
const (
	// AskStop is to stop, as ctrl+z is.
	AskStop Ask = iota
	// AskRedraw is to take the terminal anew: the program was stopped without being
	// asked, and the shell has used the terminal meanwhile.
	AskRedraw
)
