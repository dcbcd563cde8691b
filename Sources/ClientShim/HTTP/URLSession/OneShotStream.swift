import Foundation

/// A source that is read once as the stream that `URLSession` reads a body from.
enum OneShotStream {
    static func make(_ source: @escaping @Sendable () throws -> [UInt8]?) -> InputStream {
        #if canImport(Darwin)
            BoundStream.make(source)
        #else
            SourceStream(source)
        #endif
    }
}

#if canImport(Darwin)
    /// `URLSession` on Apple platforms reads no stream but the system's own, so a thread writes into one end of a pair.
    private enum BoundStream {
        static func make(_ source: @escaping @Sendable () throws -> [UInt8]?) -> InputStream {
            var (input, output): (InputStream?, OutputStream?)
            Stream.getBoundStreams(
                withBufferSize: 1 << 16, inputStream: &input, outputStream: &output)
            guard let input, let output else { return InputStream(data: Data()) }
            let writer = Writer(output: output, source: source)
            Thread.detachNewThread { writer.run() }
            return input
        }

        /// Sendable: used by the one thread it is handed to.
        private struct Writer: @unchecked Sendable {
            let output: OutputStream
            let source: @Sendable () throws -> [UInt8]?

            func run() {
                output.open()
                // A source that fails leaves its stream open: an end would make half a body a whole one. The
                // request's own time limit ends it.
                do {
                    while let piece = try source(), write(piece) {}
                } catch {
                    // The last reference would close it: kept until the process ends, 64 KiB for a source that failed.
                    _ = Unmanaged.passRetained(output)
                    return
                }
                output.close()
            }

            private func write(_ piece: [UInt8]) -> Bool {
                var rest = piece[...]
                while !rest.isEmpty {
                    let count = rest.withUnsafeBufferPointer { bytes in
                        bytes.baseAddress.map { output.write($0, maxLength: bytes.count) } ?? 0
                    }
                    guard count > 0 else { return false }
                    rest = rest.dropFirst(count)
                }
                return true
            }
        }
    }
#else
    /// Asks the source when it is read, which `URLSession` does on the one queue of its session.
    private final class SourceStream: InputStream {
        private let source: @Sendable () throws -> [UInt8]?
        private var rest: ArraySlice<UInt8> = []
        private var status = Status.notOpen

        init(_ source: @escaping @Sendable () throws -> [UInt8]?) {
            self.source = source
            super.init(data: Data())
        }

        override var streamStatus: Status { status }
        override func open() { status = .open }
        override func close() { status = .closed }

        /// Whether there may be more; the next `read` tells.
        override var hasBytesAvailable: Bool { status == .open }

        override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
            do {
                while rest.isEmpty {
                    guard let piece = try source() else {
                        status = .atEnd
                        return 0
                    }
                    rest = piece[...]
                }
            } catch {
                status = .error
                return -1
            }
            let piece = rest.prefix(maxLength)
            UnsafeMutableRawBufferPointer(start: buffer, count: maxLength).copyBytes(from: piece)
            rest = rest.dropFirst(piece.count)
            return piece.count
        }
    }
#endif
