// Package world holds the values that the console knows about a cluster: small
// rows projected from Kueue's objects, and nothing that a row does not need.
//
// A row is built once (model/project), never changed afterwards, and shared by
// every reader; code that wants another value builds another row. All strings
// of a row are already safe to draw (model/text). Slices and maps inside rows
// must be treated as read-only.
package world
