import CarpoolHTTP
import CarpoolSession
import Testing

/// Parameters that were encoded elsewhere make the same request as those that the session encodes.
@Suite struct EncodedParametersTests {
    static let values = StructuredValue.object([
        .init("a", .array([.integer(1), .string("ä b"), .real(0.5)])), .init("b", .object([.init("c", .bool(true))])),
    ])
    static let encodings: [ParameterEncoding] = [
        .form, .form(URLEncodedFormEncoder(), destination: .query), .form(URLEncodedFormEncoder(), destination: .body),
        .json(JSONParameterEncoder(sortedKeys: true)), .propertyList(.xml), .propertyList(.binary),
    ]

    private static func sent(
        _ method: HTTPMethod, _ encoding: ParameterEncoding, _ values: StructuredValue, encoded: Bool
    ) throws -> (request: TransportRequest?, error: String?) {
        let request = try Stage().send("http://a.test/?q=1") {
            $0.method = method
            $0.encoding = encoding
            if encoded {
                $0.encodedParameters = EncodedParameters(values, encoding)
            } else {
                $0.parameters = values
            }
        }
        return (request.urlRequest, request.error?.name)
    }

    @Test("PE-01, PE-02: the same URL, fields and body", arguments: [HTTPMethod.get, .post])
    func same(method: HTTPMethod) throws {
        for encoding in Self.encodings {
            let one = try Self.sent(method, encoding, Self.values, encoded: false)
            let other = try Self.sent(method, encoding, Self.values, encoded: true)
            #expect(one.error == other.error)
            #expect(one.request?.url.description == other.request?.url.description)
            #expect(one.request?.fields == other.request?.fields)
            #expect(one.request?.body.bytes == other.request?.body.bytes)
        }
    }

    @Test("What cannot be encoded fails the request in the same way")
    func failure() throws {
        for encoding in [ParameterEncoding.json(JSONParameterEncoder()), .propertyList(.xml)] {
            let values = StructuredValue.array([.real(.infinity)])
            let one = try Self.sent(.post, encoding, values, encoded: false)
            let other = try Self.sent(.post, encoding, values, encoded: true)
            #expect(one.error != nil)
            #expect(one.error == other.error)
        }
    }
}

extension RequestBody {
    fileprivate var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
}
