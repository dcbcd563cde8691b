#if canImport(Security)
    import Foundation
    import Security

    /// Generic passwords of one service, on this device only: never synchronised, never in a backup that another device can read
    /// (R-100-11), readable once the device was unlocked after its start. Type-checked, never run on a device.
    struct Keychain: Sendable {
        /// Keeps items of different kinds apart.
        let service: String
        /// The group that an app and its extensions share; `nil` is the app's own.
        let accessGroup: String?

        /// What the Keychain answered.
        struct Fault: Error, Equatable {
            let call: String
            let status: OSStatus

            var details: String { "\(call), OSStatus \(status)" }
        }

        static var accessibility: CFString { kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly }

        func read(_ account: String) throws(Fault) -> Data? {
            var query = query(account)
            query[kSecReturnData] = true
            query[kSecMatchLimit] = kSecMatchLimitOne
            guard let item = try copy(query) else { return nil }
            guard let data = item as? Data else {
                throw Fault(call: "SecItemCopyMatching", status: errSecDecode)
            }
            return data
        }

        /// Adds an item; whether there was none of that name.
        func add(_ account: String, _ data: Data) throws(Fault) -> Bool {
            var item = query(account)
            item[kSecValueData] = data
            item[kSecAttrAccessible] = Self.accessibility
            let status = SecItemAdd(item as CFDictionary, nil)
            if status == errSecDuplicateItem { return false }
            guard status == errSecSuccess else { throw Fault(call: "SecItemAdd", status: status) }
            return true
        }

        /// One change of the Keychain, so a reader sees the old item or the new one.
        func replace(_ account: String, with data: Data) throws(Fault) {
            if try update(account, data) { return }
            if try add(account, data) { return }
            // Somebody else added it between the two.
            guard try update(account, data) else {
                throw Fault(call: "SecItemUpdate", status: errSecItemNotFound)
            }
        }

        func remove(_ account: String) throws(Fault) {
            let status = SecItemDelete(query(account) as CFDictionary)
            guard status == errSecSuccess || status == errSecItemNotFound else {
                throw Fault(call: "SecItemDelete", status: status)
            }
        }

        /// The names of all items, sorted.
        func accounts() throws(Fault) -> [String] {
            var query = query(nil)
            query[kSecReturnAttributes] = true
            query[kSecMatchLimit] = kSecMatchLimitAll
            guard let items = try copy(query) else { return [] }
            guard let attributes = items as? [[String: Any]] else {
                throw Fault(call: "SecItemCopyMatching", status: errSecDecode)
            }
            return attributes.compactMap { $0[kSecAttrAccount as String] as? String }.sorted()
        }

        private func update(_ account: String, _ data: Data) throws(Fault) -> Bool {
            let change: [CFString: Any] = [
                kSecValueData: data, kSecAttrAccessible: Self.accessibility,
            ]
            let status = SecItemUpdate(query(account) as CFDictionary, change as CFDictionary)
            if status == errSecItemNotFound { return false }
            guard status == errSecSuccess else {
                throw Fault(call: "SecItemUpdate", status: status)
            }
            return true
        }

        private func copy(_ query: [CFString: Any]) throws(Fault) -> CFTypeRef? {
            var item: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &item)
            if status == errSecItemNotFound { return nil }
            guard status == errSecSuccess else {
                throw Fault(call: "SecItemCopyMatching", status: status)
            }
            return item
        }

        private func query(_ account: String?) -> [CFString: Any] {
            var query: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword,
                kSecAttrService: service,
                kSecAttrSynchronizable: false,
                // On macOS, too, the keychain that knows access groups and `ThisDeviceOnly`.
                kSecUseDataProtectionKeychain: true,
            ]
            if let account { query[kSecAttrAccount] = account }
            if let accessGroup { query[kSecAttrAccessGroup] = accessGroup }
            return query
        }
    }
#endif
