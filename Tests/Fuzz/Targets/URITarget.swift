import AssertionMint
import JOSE

/// The URIs of `htu` and of issuers. Normalising is done once: again it changes nothing.
enum URITarget: FuzzTarget {
    static func run(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        if let uri = HTTPTargetURI(text) {
            for form in [uri.htu, uri.normalized] {
                guard let again = HTTPTargetURI(form) else {
                    return promise(false, "\(text) becomes \(form), which is none")
                }
                promise(again.normalized == uri.normalized, "\(uri.normalized) \(again.normalized)")
                promise(again.origin == uri.origin, "\(uri.origin) \(again.origin)")
            }
            promise(uri.origin.hasPrefix(uri.isSecure ? "https://" : "http://"), uri.origin)
        }
        if let issuer = Issuer(text) {
            promise(issuer.rawValue.utf8.elementsEqual(text.utf8), "an issuer is kept as it is")
        }
    }
}
