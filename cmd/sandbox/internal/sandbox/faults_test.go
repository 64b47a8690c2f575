package sandbox

import "testing"

// What is above something that was disturbed may die of it, whatever was done since; what is below or beside may not.
func TestDeathsAreExcused(t *testing.T) {
	b := newFaultBook()
	for stage := stageStore; stage <= stageClients; stage++ {
		if b.excuse(stage) {
			t.Errorf("nothing was disturbed, and stage %d is excused", stage)
		}
	}
	b.note(apiServer, stageAPI, true)
	b.note(kueue, stageClients, true)
	b.note(apiServer, stageAPI, false)
	for stage, want := range map[int]bool{stageStore: false, stageAPI: false, stageClients: true} {
		if b.excuse(stage) != want {
			t.Errorf("stage %d: excused is not %t", stage, want)
		}
	}
	if b.isAway(apiServer) || !b.isAway(apiServer, kueue) {
		t.Error("the API server is back, Kueue is not")
	}
}
