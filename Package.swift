// swift-tools-version: 6.2
import PackageDescription

// Imports point one way (see docs/architecture.md); `script/lint` holds the sources to it.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

// On Apple platforms CryptoKit and the Keychain take OpenSSL's part, and only what an app needs is built. `script/check-apple` leaves
// out the same.
#if canImport(Darwin)
    let openSSL: [Target.Dependency] = []
    let notHere = ["OpenSSL", "PKCS11", "Custody", "DPoP/DPoPVerifier.swift"]
#else
    let openSSL: [Target.Dependency] = ["COpenSSL", "CPKCS11"]
    let notHere = ["CryptoKit"]
#endif

let package = Package(
    name: "token-broker",
    platforms: [.iOS(.v18), .macOS(.v15)],
    products: [
        .executable(name: "broker", targets: ["Broker"]),
        .executable(name: "sandbox-idp", targets: ["SandboxIdP"]),
        .executable(name: "demo-app", targets: ["DemoApp"]),
        .library(name: "ClientShim", targets: ["ClientShim"]),
        .library(name: "DPoPResource", targets: ["DPoPResource"]),
    ],
    targets: [
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CLibpq", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(
            name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CEpoll"),
        .systemLibrary(name: "CPKCS11"),
        .systemLibrary(name: "CProcess"),
        .systemLibrary(
            name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),

        .target(
            name: "JOSE", dependencies: openSSL, exclude: notHere, swiftSettings: settings),
        .target(name: "AssertionMint", dependencies: ["JOSE"], swiftSettings: settings),
        .target(
            name: "SocketServer", dependencies: ["COpenSSL", "CEpoll"],
            exclude: ["Connection/ConnectionMachine.md"], swiftSettings: settings),
        .target(name: "HTTPClient", dependencies: ["CCurl"], swiftSettings: settings),
        .executableTarget(
            name: "Broker",
            dependencies: [
                "AssertionMint", "HTTPClient", "JOSE", "SocketServer", "CLibpq", "CProcess",
                "CSystemd",
            ],
            // The last is a link to docs/openapi.json: SwiftPM embeds only what lies within the target.
            resources: [
                .embedInCode("Store/SQL/consume_batch.sql"), .embedInCode("Routes/openapi.json"),
            ],
            swiftSettings: settings),
        .target(
            name: "ClientShim",
            dependencies: [
                "JOSE", .target(name: "HTTPClient", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: settings),
        .target(
            name: "DPoPResource", dependencies: ["HTTPClient", "JOSE"], swiftSettings: settings),
        .executableTarget(
            name: "SandboxIdP", dependencies: ["DPoPResource", "JOSE", "SocketServer"],
            swiftSettings: settings),
        .executableTarget(
            name: "DemoApp", dependencies: ["ClientShim", "JOSE"], swiftSettings: settings),

        .executableTarget(
            name: "AppProbe", dependencies: ["ClientShim", "JOSE"], path: "Tests/AppProbe",
            swiftSettings: settings),
        .target(
            name: "TestKit", dependencies: ["JOSE"], path: "Tests/TestKit", swiftSettings: settings),
        .testTarget(name: "JOSETests", dependencies: ["JOSE", "TestKit"], swiftSettings: settings),
        .testTarget(
            name: "AssertionMintTests", dependencies: ["AssertionMint", "JOSE", "TestKit"],
            swiftSettings: settings),
        .testTarget(
            name: "SocketServerTests", dependencies: ["COpenSSL", "SocketServer", "TestKit"],
            swiftSettings: settings),
        .testTarget(
            name: "BrokerTests", dependencies: ["Broker", "HTTPClient", "TestKit"],
            swiftSettings: settings),
        .testTarget(
            name: "HTTPClientTests", dependencies: ["HTTPClient", "TestKit"],
            swiftSettings: settings),
        .target(name: "CurlTrust", dependencies: ["CCurl"], path: "Tests/CurlTrust"),
        .testTarget(
            name: "ClientShimTests",
            dependencies: [
                "AppProbe", "ClientShim", "CurlTrust", "DPoPResource", "HTTPClient", "JOSE",
                "SandboxIdP", "SocketServer", "TestKit",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "DPoPResourceTests",
            dependencies: ["DPoPResource", "HTTPClient", "JOSE", "SocketServer", "TestKit"],
            swiftSettings: settings),
        .testTarget(
            name: "SandboxIdPTests",
            dependencies: [
                "DPoPResource", "HTTPClient", "JOSE", "SandboxIdP", "SocketServer", "TestKit",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "DemoAppTests",
            dependencies: ["Broker", "ClientShim", "DemoApp", "JOSE", "SandboxIdP", "TestKit"],
            swiftSettings: settings),
        .testTarget(
            name: "SimulationTests",
            dependencies: [
                "AssertionMint", "Broker", "ClientShim", "DPoPResource", "JOSE", "SandboxIdP",
                "SocketServer",
                "TestKit",
            ],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
