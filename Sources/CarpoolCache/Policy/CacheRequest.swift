public import CarpoolHTTP

/// What the rules need of a request. It is made once for a hop and copies no value of a field. An object,
/// because a task and its fetch pass it on many times.
public final class CacheRequest {
    /// The method.
    public let method: HTTPMethod
    /// The URL.
    public let url: HTTPURL
    /// The fields as they would be sent.
    public let fields: [HTTPField]
    /// The fields of this hop alone.
    let hopFields: HopFields?
    /// The use of the store.
    public let use: CacheUse.Values
    /// The hash of the credentials; `nil` without any.
    public let credentials: [UInt8]?
    /// Which bodies of responses are decoded.
    let decoding: ContentDecoding
    /// Whether the request has a body.
    public let hasBody: Bool
    /// Makes of a secret value what may be kept: the values of `Cookie` and `Authorization` are not.
    let hash: KeyedHash
    /// The fields with a meaning for caches that are there.
    let present: Present
    /// The directives; empty without `Cache-Control`.
    let control: CacheControl
    /// The values of fields that select among responses, by name, once they were asked for.
    var selectingValues: [String: [UInt8]?] = [:]

    /// Makes it of a request that would be sent.
    /// - Parameter credentials: the hash of all that identifies the caller; `nil` without any.
    /// - Parameter hash: the keyed hash of the store.
    public init(_ request: TransportRequest, use: CacheUse, credentials: [UInt8]?, hash: KeyedHash) {
        method = request.method
        url = request.url
        fields = request.fields
        hopFields = request.hopFields
        self.use = use.values
        self.credentials = credentials
        decoding = request.decoding
        if case .none = request.body { hasBody = false } else { hasBody = true }
        self.hash = hash
        var present = Present(of: fields)
        if hopFields?.authorization != nil || !use.values.credential.isEmpty { present.insert(.authorization) }
        self.present = present
        control = present.contains(.cacheControl) ? CacheControl(fields) : CacheControl()
    }

    /// Whether the body of a response with these fields is decoded, if it has a coding.
    func decodes(_ response: FieldBlock) -> Bool { decoding.applies(to: response, of: url) }

    /// Whether it is a `GET` without a body, or `HEAD`: the only ones that read stored responses.
    var reads: Bool { (method == .get || method == .head) && !hasBody }

    /// Fields of requests that have a meaning for caches.
    struct Present: OptionSet {
        let rawValue: UInt16

        static let cacheControl = Present(rawValue: 1)
        static let pragma = Present(rawValue: 2)
        static let noneMatch = Present(rawValue: 4)
        static let modifiedSince = Present(rawValue: 8)
        static let match = Present(rawValue: 16)
        static let unmodifiedSince = Present(rawValue: 32)
        static let range = Present(rawValue: 64)
        static let ifRange = Present(rawValue: 128)
        static let authorization = Present(rawValue: 256)
        /// Conditions that a store evaluates.
        static let conditions: Present = [.noneMatch, .modifiedSince]
        /// Conditions that only the origin evaluates.
        static let otherConditions: Present = [.match, .unmodifiedSince]

        init(rawValue: UInt16) { self.rawValue = rawValue }

        init(of fields: [HTTPField]) {
            var present = Present(rawValue: 0)
            for field in fields { present.formUnion(Present(field)) }
            self = present
        }

        /// Only names of the right length are compared.
        private init(_ field: HTTPField) {
            self =
                switch field.name.utf8.count {
                case 5 where field.isNamed("range"): .range
                case 6 where field.isNamed("pragma"): .pragma
                case 8 where field.isNamed("if-match"): .match
                case 8 where field.isNamed("if-range"): .ifRange
                case 13 where field.isNamed("cache-control"): .cacheControl
                case 13 where field.isNamed("authorization"): .authorization
                case 13 where field.isNamed("if-none-match"): .noneMatch
                case 17 where field.isNamed("if-modified-since"): .modifiedSince
                case 19 where field.isNamed("if-unmodified-since"): .unmodifiedSince
                default: []
                }
        }
    }
}
