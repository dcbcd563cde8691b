import Foundation

/// Finds the files beside the tests, in the source tree this was compiled from.
public enum Fixtures {
    /// The absolute path of `name` under `Tests/`, such as `Fixtures/Vectors/rfc-examples.json`.
    public static func path(_ name: String) -> String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent(name).path
    }

    /// The octets of the file `name` under `Tests/`.
    public static func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: path(name))))
    }
}
