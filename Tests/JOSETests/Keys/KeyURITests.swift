import JOSE
import Testing

@Suite struct KeyURITests {
    @Test(arguments: [
        "pkcs11", "pkcs11:token", "pkcs11:=a", "pkcs11:token=", "pkcs11:token=a;token=b",
        "pkcs11:token=a;colour=red", "pkcs11:token=%4", "pkcs11:token=%zz", "pkcs11:token=%ff",
        "pkcs11:token=a;type=public", "pkcs11:slot-id=x", "pkcs11:slot-id=-1",
        "pkcs11:token=a?pin-source=|cat%20/etc/passwd", "pkcs11:token=a?pin-source=secret",
        "pkcs11:token=a?colour=red", "pkcs11:token=a?module-name=softhsm2",
        "pkcs11:token=a?module-path=/a&module-path=/b", "PKCS11:token=a",
        "handle:", "handle:81000001", "handle:0x", "handle:0x81g", "handle:0x\u{ff11}",
        "handle:0x810000010",
        "handle:0x81000001?auth=a", "file:/a?", "file:/a?b", "file:/a?passphrase=b",
        "file:/a?passphrase-source=file:/b?passphrase-source=file:/c\u{0}", "org.openssl.engine:a",
    ])
    func `a URI that says what nobody understands is refused`(uri: String) {
        #expect(throws: KeyError.unsupportedURI) { try PrivateKey.load(uri: uri) }
    }

    @Test(arguments: [
        "pkcs11:token=a?pin-value=canary", "pkcs11:token=a?module-path=/a&pin-value=canary",
    ])
    func `a PIN in a URI is refused, since URIs stand in the database`(uri: String) {
        let error = #expect(throws: KeyError.secretInURI) { try PrivateKey.load(uri: uri) }
        #expect(error?.description.contains("canary") == false)
    }
}
