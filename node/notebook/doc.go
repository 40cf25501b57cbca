// Package notebook writes what is agreed in topics, and who is in parties, into files of those
// who work on them: ψ/memory/collaborations of each agent of this host that has a folder. People and other
// programs read them. They are views: what holds is in the record, files are never read
// back, and what a person wrote into them stays (R29).
package notebook
