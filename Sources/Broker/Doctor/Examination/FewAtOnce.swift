/// What `work` makes of each item, in their order. At most four are worked on at a time: one that hangs holds up a quarter of
/// the rest, and nobody is asked by a crowd.
func fewAtOnce<Item: Sendable, Value: Sendable>(
    _ items: [Item], _ work: @escaping @Sendable (Item) async -> Value
) async -> [Value] {
    let most = 4
    return await withTaskGroup(of: (Int, Value).self) { group in
        var values = [Value?](repeating: nil, count: items.count)
        for (place, item) in items.enumerated() {
            if place >= most, let (done, value) = await group.next() { values[done] = value }
            group.addTask { (place, await work(item)) }
        }
        for await (done, value) in group { values[done] = value }
        return values.compactMap { $0 }
    }
}
