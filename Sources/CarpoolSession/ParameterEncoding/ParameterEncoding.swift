public import CarpoolHTTP

/// How parameters are added to a request: in the query of its URL, or as its body. Indirect, so that the many requests
/// without one stay small.
public indirect enum ParameterEncoding: Sendable {
    /// `name=value` pairs in the query or the body.
    case form(URLEncodedFormEncoder, destination: FormDestination)
    /// A JSON body.
    case json(JSONParameterEncoder)
    /// A property list as the body (PE-14).
    case propertyList(PropertyListFormat)

    /// The form with every default.
    public static let form = ParameterEncoding.form(URLEncodedFormEncoder(), destination: .methodDependent)

    /// Adds the parameters to a request. An existing `Content-Type` is kept (PE-13); without one a body sets its own,
    /// even an empty one (PE-03, PE-04). A query is appended to the existing one, and nothing is added for empty
    /// parameters: the model leaves a `&` at the end then (FE-02). Whether the method allows a body is not checked
    /// here.
    /// - Throws: `parameter_encoder_failed.encoder_failed`, `parameter_encoding_failed.json_encoding_failed` or
    ///   `parameter_encoding_failed.property_list_encoding_failed`, with the reason in `underlying`; `invalid_url` if
    ///   the URL would become longer than 65,536 bytes.
    public func encode(
        _ parameters: StructuredValue, into urlRequest: inout TransportRequest
    ) throws(SessionError) {
        try put(try bytes(of: parameters), into: &urlRequest)
    }

    /// Encodes the parameters, on any thread.
    func bytes(of parameters: StructuredValue) throws(SessionError) -> [UInt8] {
        switch self {
        case .form(let encoder, _): Array(try encoder.encode(parameters).utf8)
        case .json(let encoder): try encoder.encode(parameters)
        case .propertyList(let format): try PropertyList.encode(parameters, as: format)
        }
    }

    /// Puts encoded parameters into a request.
    func put(_ bytes: [UInt8], into urlRequest: inout TransportRequest) throws(SessionError) {
        switch self {
        case .form(_, let destination) where destination.isQuery(for: urlRequest.method):
            try ParameterEncoding.append(String(decoding: bytes, as: UTF8.self), to: &urlRequest)
        case .form: urlRequest.setBody(bytes, type: .formContentType)
        case .json: urlRequest.setBody(bytes, type: .jsonContentType)
        case .propertyList: urlRequest.setBody(bytes, type: .propertyListContentType)
        }
    }

    private static func append(_ query: String, to urlRequest: inout TransportRequest) throws(SessionError) {
        guard !query.isEmpty else { return }
        do throws(TransportError) {
            urlRequest.url = try urlRequest.url.appendingQuery(query)
        } catch {
            throw .invalidURL(urlRequest.url.description, error)
        }
    }
}

/// The destination of a form (PE-01, FE-01).
public enum FormDestination: String, Sendable, CaseIterable {
    /// The query for GET, HEAD and DELETE, the body for every other method.
    case methodDependent = "method_dependent"
    /// The query of the URL.
    case query
    /// The body.
    case body

    func isQuery(for method: HTTPMethod) -> Bool {
        switch self {
        case .query: return true
        case .body: return false
        case .methodDependent:
            switch method.rawValue {
            case "GET", "HEAD", "DELETE": return true
            default: return false
            }
        }
    }
}

extension TransportRequest {
    fileprivate mutating func setBody(_ bytes: [UInt8], type: HTTPField?) {
        body = .bytes(bytes)
        if let type, !fields.contains(where: { $0.isNamed("content-type") }) { fields.append(type) }
    }
}

extension HTTPField {
    // The fields are valid, which the initializer cannot know.
    fileprivate static let formContentType = try? contentType("application/x-www-form-urlencoded; charset=utf-8")
    fileprivate static let jsonContentType = try? contentType("application/json")
    fileprivate static let propertyListContentType = try? contentType("application/x-plist")
}
