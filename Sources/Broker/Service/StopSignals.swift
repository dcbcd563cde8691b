import Dispatch
import Glibc

/// SIGTERM and SIGINT as events: the first asks for a graceful stop, a second ends the process at once.
///
/// Sendable: the sources are set up in `init` and changed once, by the one caller of `first`.
final class StopSignals: @unchecked Sendable {
    private let sources: [any DispatchSourceSignal]
    private let received: AsyncStream<Int32>

    init() {
        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
        received = stream
        sources = [SIGTERM, SIGINT].map { number in
            // The default action would end the process before the source sees the signal.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(
                signal: number, queue: DispatchQueue(label: "broker.signals"))
            source.setEventHandler { continuation.yield(number) }
            source.activate()
            return source
        }
    }

    /// Waits for the first signal; from then on another one ends the process with 128 plus its number.
    func first() async -> Int32 {
        var iterator = received.makeAsyncIterator()
        let number = await iterator.next() ?? SIGTERM
        for (source, number) in zip(sources, [SIGTERM, SIGINT]) {
            source.setEventHandler { _exit(128 + number) }
        }
        return number
    }
}
