package supervise

import "runtime"

// spawner runs functions on one OS thread that lives as long as the channel is open. Pdeathsig is tied to the thread
// that forked the child, not to the process: a child started from any goroutine would be killed at random, whenever
// the Go runtime retires that goroutine's thread.
func spawner(work <-chan func()) {
	runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
	for f := range work {
		f()
	}
}
