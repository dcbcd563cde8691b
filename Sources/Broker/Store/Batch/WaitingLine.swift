/// A first-in, first-out line whose front can be given back. Taking from the front costs the same however
/// many wait.
struct WaitingLine<Element> {
    private var elements: [Element?] = []
    private var start = 0

    var count: Int { elements.count - start }
    var isEmpty: Bool { count == 0 }
    var first: Element? { isEmpty ? nil : elements[start] }

    mutating func append(_ element: Element) {
        elements.append(element)
    }

    mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        let element = elements[start]
        elements[start] = nil
        start += 1
        if isEmpty {
            elements.removeAll(keepingCapacity: true)
            start = 0
        } else if start > 1024, start * 2 > elements.count {
            elements.removeFirst(start)
            start = 0
        }
        return element
    }

    /// Puts elements back to the front, in their order.
    mutating func putBack(_ returned: [Element]) {
        guard !returned.isEmpty else { return }
        elements.replaceSubrange(..<start, with: returned)
        start = 0
    }
}
