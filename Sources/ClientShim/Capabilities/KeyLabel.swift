/// Which texts can name a key.
enum KeyLabel {
    static func check(_ label: String) throws(KeyStoreError) {
        let isGood = label.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"):
                true
            default: "-._".utf8.contains(byte)
            }
        }
        guard isGood, !label.isEmpty, label.utf8.count <= 100 else { throw .badLabel }
    }
}
