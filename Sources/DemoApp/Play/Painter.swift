/// Turns events into lines. Pure: the same lines on every terminal, but for the colours.
struct Painter: Sendable {
    let usesColours: Bool

    /// - Parameter seconds: since the demo began.
    func lines(for event: PhoneEvent, in view: PhoneView, at seconds: Double) -> [String] {
        switch event {
        case .asked, .died: return []
        case .typed(let line): return ["> \(line)"]
        case .said(let text): return [line("app", text, at: seconds)]
        case .refused(let text): return [line("no", paint(text, .red), at: seconds)]
        case .began(let text): return [line("app", "\(text) …", at: seconds)]
        case .ended(let text): return [line("app", text, at: seconds)]
        case .attempt(let attempt): return [line("net", attempt.text, at: seconds)]
        case .step(let text): return [line("sdk", paint(text, .dim), at: seconds)]
        case .disk(let text): return [line("disk", text, at: seconds)]
        case .stage(let stage):
            let bar = view.bar.text { paint($0, colour(of: stage)) }
            let waiting = stage.waiting.map { [line("", $0, at: seconds)] } ?? []
            return [line("state", bar, at: seconds)] + waiting
        }
    }

    private func line(_ source: String, _ text: String, at seconds: Double) -> String {
        let tenths = Int(seconds * 10)
        let time = "\(tenths / 10).\(tenths % 10)"
        return Self.right(time, 6) + "  " + Self.left(source, 6) + text
    }

    private static func left(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }

    private static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }

    private enum Colour: Int {
        case bold = 1
        case dim = 2
        case red = 31
        case green = 32
        case yellow = 33
    }

    private func colour(of stage: Stage) -> Colour {
        switch stage {
        case .signedIn: .green
        case .failed: .red
        case .scan, .tryAgain: .yellow
        default: .bold
        }
    }

    private func paint(_ text: String, _ colour: Colour) -> String {
        usesColours ? "\u{1b}[\(colour.rawValue)m\(text)\u{1b}[0m" : text
    }
}
