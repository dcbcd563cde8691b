import Testing

/// One way to break a good request, and the error code that answers it.
struct Break<Subject>: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let status: Int
    let error: String?
    let apply: @Sendable (inout Subject) throws -> Void

    init(
        _ description: String, _ error: String?, status: Int = 400,
        _ apply: @escaping @Sendable (inout Subject) throws -> Void
    ) {
        testDescription = description
        self.status = status
        self.error = error
        self.apply = apply
    }
}
