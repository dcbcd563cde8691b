/// Whether a condition comes true while other tasks run. For effects nobody waits for, such as an abort;
/// there is no event to await, so the scheduler is given turns, bounded by their number.
func eventually(_ condition: () -> Bool) async -> Bool {
    for _ in 0..<200_000 {
        if condition() { return true }
        await Task.yield()
    }
    return condition()
}
