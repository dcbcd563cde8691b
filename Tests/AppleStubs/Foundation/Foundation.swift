// swift-format-ignore-file
// Declarations as Apple writes them.
@_exported import FoundationEssentials

open class NSObject {
    public init() {}
}

public protocol NSObjectProtocol: AnyObject {}
extension NSObject: NSObjectProtocol {}

public struct URLRequest: Sendable {
    public enum CachePolicy: UInt, Sendable {
        case useProtocolCachePolicy = 0
        case reloadIgnoringLocalCacheData = 1
    }

    public init(
        url: URL, cachePolicy: CachePolicy = .useProtocolCachePolicy,
        timeoutInterval: TimeInterval = 60.0
    ) {}
    public var httpMethod: String?
    public var httpBody: Data?
    public var httpBodyStream: InputStream? { get { nil } set {} }
    public mutating func addValue(_ value: String, forHTTPHeaderField field: String) {}
}

open class URLResponse: NSObject, @unchecked Sendable {}

open class HTTPURLResponse: URLResponse, @unchecked Sendable {
    open var statusCode: Int { 0 }
    open var allHeaderFields: [AnyHashable: Any] { [:] }
}

open class HTTPCookieStorage: NSObject, @unchecked Sendable {}
public enum HTTPCookie {
    public enum AcceptPolicy: UInt, Sendable { case never = 1 }
}
open class URLCredentialStorage: NSObject, @unchecked Sendable {}
open class URLCache: NSObject, @unchecked Sendable {}
open class OperationQueue: NSObject, @unchecked Sendable {}

public enum tls_protocol_version_t: UInt16, Sendable { case TLSv12 = 0x0303 }

open class URLSessionConfiguration: NSObject, @unchecked Sendable {
    open class var ephemeral: URLSessionConfiguration { fatalError("a stub") }
    open var timeoutIntervalForRequest: TimeInterval = 60
    open var timeoutIntervalForResource: TimeInterval = 604_800
    open var tlsMinimumSupportedProtocolVersion: tls_protocol_version_t = .TLSv12
    open var httpCookieStorage: HTTPCookieStorage?
    open var httpCookieAcceptPolicy: HTTPCookie.AcceptPolicy = .never
    open var httpShouldSetCookies: Bool = true
    open var urlCache: URLCache?
    open var urlCredentialStorage: URLCredentialStorage?
    open var requestCachePolicy: URLRequest.CachePolicy = .useProtocolCachePolicy
}

open class URLSessionTask: NSObject, @unchecked Sendable {
    open var response: URLResponse? { nil }
    open func resume() {}
}
open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}

public protocol URLSessionDelegate: NSObjectProtocol, Sendable {}

public protocol URLSessionTaskDelegate: URLSessionDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void)
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
}

public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)
}

open class URLSession: NSObject, @unchecked Sendable {
    public init(
        configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?,
        delegateQueue queue: OperationQueue?
    ) {}
    open func dataTask(with request: URLRequest) -> URLSessionDataTask { fatalError("a stub") }
    open func finishTasksAndInvalidate() {}
    open func invalidateAndCancel() {}
}

open class Stream: NSObject {
    // Apple's pointers are autoreleasing, which Swift has there only.
    open class func getBoundStreams(
        withBufferSize bufferSize: Int, inputStream: UnsafeMutablePointer<InputStream?>?,
        outputStream: UnsafeMutablePointer<OutputStream?>?
    ) {}
    open func open() {}
    open func close() {}
}
@available(*, unavailable)
extension Stream: Sendable {}

open class InputStream: Stream {
    public init(data: Data) {}
}

open class OutputStream: Stream {
    open func write(_ buffer: UnsafePointer<UInt8>, maxLength len: Int) -> Int { 0 }
}

open class Thread: NSObject {
    open class func detachNewThread(_ block: @escaping @Sendable () -> Void) {}
}

public struct URLError: Error, Sendable {
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }
        public static var cannotFindHost: Code { Code(rawValue: -1003) }
        public static var cannotConnectToHost: Code { Code(rawValue: -1004) }
        public static var dnsLookupFailed: Code { Code(rawValue: -1006) }
        public static var notConnectedToInternet: Code { Code(rawValue: -1009) }
        public static var secureConnectionFailed: Code { Code(rawValue: -1200) }
        public static var serverCertificateHasBadDate: Code { Code(rawValue: -1201) }
        public static var serverCertificateUntrusted: Code { Code(rawValue: -1202) }
        public static var serverCertificateHasUnknownRoot: Code { Code(rawValue: -1203) }
        public static var timedOut: Code { Code(rawValue: -1001) }
        public static var cancelled: Code { Code(rawValue: -999) }
    }
    public var code: Code { fatalError("a stub") }
}
