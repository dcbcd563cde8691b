/// What this device itself can fail with; peers' answers are never among these.
enum AuthnFault: Error, Equatable {
    case keyStore(KeyStoreError)
    case secureStore(SecureStoreError)
    case random

    /// Developer text without any secret: labels and record names are the SDK's own.
    var details: String {
        switch self {
        case .keyStore(let error): "key store: \(error)"
        case .secureStore(let error): "secure store: \(error)"
        case .random: "random source gave nothing"
        }
    }
}

func keyFault<Value>(
    _ body: () throws(KeyStoreError) -> Value
) throws(AuthnFault) -> Value {
    do { return try body() } catch { throw .keyStore(error) }
}

func storeFault<Value>(
    _ body: () throws(SecureStoreError) -> Value
) throws(AuthnFault) -> Value {
    do { return try body() } catch { throw .secureStore(error) }
}
