/// The bounds the tables keep for what a record carries.
enum RecordForm {
    /// So that a slot number always fits its column.
    static let latestSecond: Int64 = 1 << 36

    /// ASCII only: Swift takes canonically equivalent texts for equal, and the database does not.
    static func isName(_ text: String, upTo count: Int) -> Bool {
        (1...count).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }

    static func isBase64URL(_ text: String, count: Int) -> Bool {
        text.utf8.count == count
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}
