import Synchronization

/// How far each origin's clock is from this device's, learnt from `Date` (R-100-35).
final class ClockOffsets: Sendable {
    private let offsets = Mutex<[String: Int64]>([:])

    /// What an answer taught about its origin's clock.
    enum Lesson: Equatable {
        /// Close enough, or no readable date.
        case none
        /// Off by so many seconds; applied from now on.
        case applied(Int64)
        /// Off by more than a day: reported, not applied.
        case tooLarge(Int64)
    }

    /// Seconds to add to the device's time to get the origin's.
    func offset(for origin: String) -> Int64 {
        offsets.withLock { $0[origin] ?? 0 }
    }

    /// Learns from one answer.
    /// - Parameter now: seconds since 1970 UTC, by the device.
    @discardableResult
    func learn(_ answer: HTTPAnswer, from origin: String, now: Int64) -> Lesson {
        guard let date = answer.single("Date").flatMap(HTTPDate.seconds) else { return .none }
        let lesson = Self.lesson(offset: date - now)
        offsets.withLock { offsets in
            switch lesson {
            case .applied(let offset):
                // Forgetting all when there are too many only costs one nonce repeat.
                if offsets.count >= NonceTable.maximumOrigins { offsets = [:] }
                offsets[origin] = offset
            case .none, .tooLarge:
                offsets[origin] = nil
            }
        }
        return lesson
    }

    static func lesson(offset: Int64) -> Lesson {
        switch offset.magnitude {
        case 0...5: .none
        case 6...86_400: .applied(offset)
        default: .tooLarge(offset)
        }
    }
}
