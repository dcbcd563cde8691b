import ClientShim

/// A face engine that knows its three pictures by heart. The sealed tokens are those of `ScriptedFaceEngine`.
struct PictureEngine: FaceEngine {
    private let tokens = ScriptedFaceEngine()

    var name: String { tokens.name }

    static func frame(_ picture: Picture) -> FaceFrame { FaceFrame(Array(picture.rawValue.utf8)) }

    func open(_ token: SealedFaceToken) async throws(FaceEngineError) -> OpenedFaceToken {
        try await tokens.open(token)
    }

    func isLive(_ frame: FaceFrame) async throws(FaceEngineError) -> Bool {
        Self.picture(frame) != .photograph
    }

    func matches(
        _ frame: FaceFrame, _ token: OpenedFaceToken
    ) async throws(FaceEngineError) -> Bool {
        Self.picture(frame) == .owner
    }

    func rotate(_ token: OpenedFaceToken) async throws(FaceEngineError) -> SealedFaceToken {
        try await tokens.rotate(token)
    }

    private static func picture(_ frame: FaceFrame) -> Picture? {
        frame.withBytes { Picture(rawValue: String(decoding: $0, as: UTF8.self)) }
    }
}
