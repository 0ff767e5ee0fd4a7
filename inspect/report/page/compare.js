
// The comparison of several runs.
function showCompare(data) {
}
