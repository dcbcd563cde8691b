import Dispatch
import Glibc

/// The signals of an operator as events: SIGTERM and SIGINT ask for a graceful stop, SIGHUP for a reload.
///
/// Sendable: the sources are set up in `init` and changed once, by the one caller of `endAtNextStop`.
final class ServiceSignals: @unchecked Sendable {
    enum Event: Equatable, Sendable {
        case stop(Int32)
        case reload
    }

    /// What came, in order; several of a kind that came at once may count as one.
    let events: AsyncStream<Event>
    private let stopSources: [(number: Int32, source: any DispatchSourceSignal)]
    private let reloadSource: any DispatchSourceSignal

    init() {
        let (stream, continuation) = AsyncStream.makeStream(of: Event.self)
        events = stream
        stopSources = [SIGTERM, SIGINT].map { number in
            (number, Self.source(number) { continuation.yield(.stop(number)) })
        }
        reloadSource = Self.source(SIGHUP) { continuation.yield(.reload) }
    }

    /// From now on a signal to stop ends the process at once, with 128 plus its number.
    func endAtNextStop() {
        for (number, source) in stopSources {
            source.setEventHandler { _exit(128 + number) }
        }
    }

    private static func source(
        _ number: Int32, _ handler: @escaping @Sendable () -> Void
    ) -> any DispatchSourceSignal {
        // The default action would end the process before the source sees the signal.
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(
            signal: number, queue: DispatchQueue(label: "broker.signals"))
        source.setEventHandler(handler: handler)
        source.activate()
        return source
    }
}
