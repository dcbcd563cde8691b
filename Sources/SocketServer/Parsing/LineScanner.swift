/// Finds the CR LF that ends a line, looking at each octet once however the line arrives.
struct LineScanner {
    enum Answer: Equatable {
        /// The line is `bytes[start..<end]`; the next one starts at `end + 2`.
        case line(end: Int)
        case needMore
        /// No end within the limit.
        case tooLong
        /// A bare LF, or a CR without LF.
        case badEnd
    }

    private(set) var start = 0
    private var scanned = 0

    /// - Parameter limit: the most octets the line may have without its CR LF. What is found depends only on the
    ///   octets up to the limit, so the answer is the same for every split of the input.
    mutating func next(in bytes: Octets, limit: Int) -> Answer {
        let window = min(bytes.count, start + limit + 1)
        while scanned < window {
            switch bytes[scanned] {
            case .lf: return .badEnd
            case .cr:
                guard scanned + 1 < bytes.count else { return .needMore }
                return bytes[scanned + 1] == .lf ? .line(end: scanned) : .badEnd
            default: scanned += 1
            }
        }
        return bytes.count > start + limit ? .tooLong : .needMore
    }

    /// Goes on behind the line that ended at `end`.
    mutating func advance(past end: Int) {
        start = end + 2
        scanned = start
    }
}
