import Foundation
import Glibc

/// Looks in a process's memory for pieces of a file, such as the lines of a key. It leaves no copy of them in this process
/// outside a place of its own, which it does not look at.
public final class MemorySearch {
    private static let fileLength = 1 << 16
    private static let chunkLength = 1 << 20

    /// First the file, then what was read last.
    private let room: UnsafeMutableRawBufferPointer
    private let pieces: [Range<Int>]

    /// - Parameter pieces: chooses what to look for: ranges of the octets it is lent.
    public init(file: String, pieces: (UnsafeRawBufferPointer) -> [Range<Int>]) throws {
        room = .allocate(byteCount: Self.fileLength + Self.chunkLength, alignment: 16)
        let descriptor = Glibc.open(file, O_RDONLY | O_CLOEXEC)
        let count = descriptor < 0 ? -1 : Glibc.read(descriptor, room.baseAddress, Self.fileLength)
        if descriptor >= 0 { close(descriptor) }
        self.pieces = count > 0 ? pieces(UnsafeRawBufferPointer(rebasing: room[..<count])) : []
        guard !self.pieces.isEmpty else {
            throw ProcessFailure(description: "nothing to look for in \(file)")
        }
    }

    deinit {
        room.initializeMemory(as: UInt8.self, repeating: 0)
        room.deallocate()
    }

    /// The lines between a PEM block's first and last.
    public static func pemBody(_ text: UnsafeRawBufferPointer) -> [Range<Int>] {
        let ends = text.indices.filter { text[$0] == 0x0a }
        return zip(ends, ends.dropFirst().dropLast()).map { ($0 + 1)..<$1 }
    }

    /// How often any of the pieces stands in the memory that a process may write to.
    ///
    /// - Parameter process: its number; this one unless given. The memory of one that allows no dump is root's to read.
    public func occurrences(in process: Int32? = nil) throws -> Int {
        let folder = "/proc/" + (process.map { String($0) } ?? "self")
        let memory = Glibc.open("\(folder)/mem", O_RDONLY | O_CLOEXEC)
        guard memory >= 0 else {
            throw ProcessFailure(description: "\(folder)/mem cannot be opened (errno \(errno))")
        }
        defer { close(memory) }
        let maps = try String(contentsOfFile: "\(folder)/maps", encoding: .utf8)
        return maps.split(separator: "\n").reduce(0) { found, line in
            let words = line.split(separator: " ", maxSplits: 2)
            let bounds = words[0].split(separator: "-").compactMap { Int($0, radix: 16) }
            guard words.count > 1, words[1].hasPrefix("rw"), bounds.count == 2 else { return found }
            let region = bounds[0]..<bounds[1]
            let places = process == nil ? outsideRoom(region) : [region]
            return places.reduce(found) { $0 + occurrences(in: $1, of: memory) }
        }
    }

    private func outsideRoom(_ region: Range<Int>) -> [Range<Int>] {
        let start = Int(bitPattern: room.baseAddress)
        let own = (start..<start + room.count).clamped(to: region)
        return own.isEmpty
            ? [region]
            : [region.lowerBound..<own.lowerBound, own.upperBound..<region.upperBound]
    }

    private func occurrences(in region: Range<Int>, of memory: Int32) -> Int {
        let longest = pieces.map(\.count).max() ?? 1
        var found = 0
        var place = region.lowerBound
        while place < region.upperBound {
            let chunk = UnsafeMutableRawBufferPointer(rebasing: room[Self.fileLength...])
            let wanted = min(chunk.count, region.upperBound - place)
            let count = pread(memory, chunk.baseAddress, wanted, place)
            // Another thread may have given it back meanwhile.
            guard count > 0 else { return found }
            // What begins in the last octets is found in the next chunk, as a whole.
            let isLast = place + count >= region.upperBound || count < longest
            let starts = isLast ? count : count - longest + 1
            for piece in pieces {
                found += occurrences(of: piece, in: chunk, count, startingBefore: starts)
            }
            place += starts
        }
        return found
    }

    private func occurrences(
        of piece: Range<Int>, in chunk: UnsafeMutableRawBufferPointer, _ count: Int,
        startingBefore end: Int
    ) -> Int {
        guard let base = chunk.baseAddress, let text = room.baseAddress else { return 0 }
        // Most memory is zeros: what is looked for first is the first octet that is none.
        let zeros = room[piece].prefix { $0 == 0 }.count
        guard zeros < piece.count else { return 0 }
        let first = Int32(room[piece.lowerBound + zeros])
        var found = 0
        var from = zeros
        while from < count, let hit = memchr(base + from, first, count - from) {
            let start = UnsafeRawPointer(hit) - UnsafeRawPointer(base) - zeros
            guard start < end, start + piece.count <= count else { break }
            if memcmp(base + start, text + piece.lowerBound, piece.count) == 0 { found += 1 }
            from = start + zeros + 1
        }
        return found
    }
}
