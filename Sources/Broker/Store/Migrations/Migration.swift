import Glibc
import JOSE

/// One file of `migrations/`.
struct Migration: Sendable, Equatable {
    let version: Int
    let fileName: String
    let sql: String
    /// SHA-256 of the file, in lower-case hex.
    let digest: String

    /// All of a directory, in order: 0001, 0002, … without a gap.
    static func all(in directory: String) throws(MigrationError) -> [Migration] {
        var migrations: [Migration] = []
        for fileName in try fileNames(in: directory) where fileName.hasSuffix(".sql") {
            guard let version = version(of: fileName) else { throw .badName(file: fileName) }
            let bytes = try contents(of: directory + "/" + fileName)
            guard let sql = String(validating: bytes, as: UTF8.self) else {
                throw .unreadable(file: fileName, reason: "not UTF-8")
            }
            migrations.append(
                Migration(
                    version: version, fileName: fileName, sql: sql,
                    digest: SHA256.hash(bytes).map { byte in
                        (byte < 16 ? "0" : "") + String(byte, radix: 16)
                    }.joined()))
        }
        migrations.sort { $0.version < $1.version }
        for (index, migration) in migrations.enumerated() {
            guard migration.version >= index + 1 else { throw .duplicateNumber(migration.version) }
            guard migration.version == index + 1 else { throw .gapInFiles(missing: index + 1) }
        }
        guard !migrations.isEmpty else { throw .noFiles(directory: directory) }
        return migrations
    }

    /// The number of a name of the form `NNNN_name.sql`.
    private static func version(of fileName: String) -> Int? {
        let digits = fileName.utf8.prefix(4)
        guard digits.count == 4, digits.allSatisfy({ (0x30...0x39).contains($0) }),
            fileName.utf8.dropFirst(4).first == UInt8(ascii: "_"), fileName.utf8.count <= 200
        else { return nil }
        return Int(fileName.prefix(4)).flatMap { $0 > 0 ? $0 : nil }
    }

    private static func fileNames(in directory: String) throws(MigrationError) -> [String] {
        guard let stream = opendir(directory) else {
            throw .unreadable(file: directory, reason: String(cString: strerror(errno)))
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) { name in
                    name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                })
        }
        return names
    }

    private static func contents(of path: String) throws(MigrationError) -> [UInt8] {
        func failure() -> MigrationError {
            .unreadable(file: path, reason: String(cString: strerror(errno)))
        }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure() }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count == 0 { return bytes }
            if count < 0 {
                if errno == EINTR { continue }
                throw failure()
            }
            bytes.append(contentsOf: chunk[..<count])
        }
    }
}
