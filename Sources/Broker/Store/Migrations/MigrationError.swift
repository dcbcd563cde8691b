/// Why the database cannot be brought to the newest schema. Each text says what to do about.
enum MigrationError: Error, Sendable, Equatable {
    case noFiles(directory: String)
    case unreadable(file: String, reason: String)
    case badName(file: String)
    case gapInFiles(missing: Int)
    case duplicateNumber(Int)
    /// The file was applied, and is another one now.
    case changedAfterwards(file: String)
    /// A later file is applied, this one is not.
    case gapInDatabase(missing: Int)
    case databaseIsNewer(database: Int, files: Int)
    case failed(file: String, PostgresError)
    case database(PostgresError)
}

extension MigrationError: CustomStringConvertible {
    var description: String {
        switch self {
        case .noFiles(let directory): "\(directory) holds no file named NNNN_name.sql"
        case .unreadable(let file, let reason): "\(file): \(reason)"
        case .badName(let file): "\(file) is not named NNNN_name.sql"
        case .gapInFiles(let version): "migration \(version) is missing among the files"
        case .duplicateNumber(let version): "two files have the number \(version)"
        case .changedAfterwards(let file):
            "\(file) was applied to this database and has been changed since"
        case .gapInDatabase(let version):
            "migration \(version) was never applied to this database, but a later one was"
        case .databaseIsNewer(let database, let files):
            "the database has version \(database), this program knows \(files): use a newer program"
        case .failed(let file, let error): "\(file): \(error)"
        case .database(let error): "\(error)"
        }
    }
}
