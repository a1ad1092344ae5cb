internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolRPC

// The header fields of a request.
extension RequestParametersDecoder {
    /// Fields from an object, whose values are strings or lists of strings, or from an ordered list of pairs.
    static func fields(_ headers: JSON, path: String, isComplete: Bool = false) throws(RPCError) -> [HTTPField] {
        let fields = try givenFields(headers, path: path, isComplete)
        guard fields.lazy.filter({ $0.isNamed("host") }).count < 2 else {
            throw .invalidParams(path: path, message: "there is more than one Host", expected: "one Host at most")
        }
        // A body must not be chunked twice (RFC 9112, section 6.1), and servers disagree on what two fields mean.
        guard !isComplete || fields.lazy.filter({ $0.isNamed("transfer-encoding") }).count < 2 else {
            throw .invalidParams(
                path: path, message: "there is more than one Transfer-Encoding",
                expected: "one Transfer-Encoding at most")
        }
        return fields
    }

    private static func givenFields(
        _ headers: JSON, path: String, _ isComplete: Bool
    ) throws(RPCError) -> [HTTPField] {
        var fields: [HTTPField] = []
        if headers.kind == .array {
            for i in 0..<headers.count {
                guard let pair = headers[index: i], let name = pair[index: 0]?.string,
                    let value = pair[index: 1]?.string
                else { continue }
                fields.append(try field(name, value, isComplete, path: "\(path)[\(i)]"))
            }
            return fields
        }
        try headers.forEachMember { (name: String, value: JSON) throws(RPCError) in
            if let value = value.string {
                return fields.append(try field(name, value, isComplete, path: "\(path).\(name)"))
            }
            guard fields.count + value.count <= maximumFields else {
                throw .invalidParams(
                    path: path, message: "there are too many fields", expected: "at most \(maximumFields) fields")
            }
            for i in 0..<value.count {
                guard let value = value[index: i]?.string else { continue }
                fields.append(try field(name, value, isComplete, path: "\(path).\(name)[\(i)]"))
            }
        }
        return fields
    }

    /// The most fields of a request: as many as an object of `headers` may have names.
    private static let maximumFields = 1_000

    /// - Parameter isComplete: whether the fields are all that are sent, with those of the connection.
    private static func field(
        _ name: String, _ value: String, _ isComplete: Bool, path: String
    ) throws(RPCError) -> HTTPField {
        do throws(HTTPField.Refusal) {
            if isComplete, name.utf8.last == UInt8(ascii: ":") {
                return try HTTPField(ofConnection: String(Substring(name.utf8.dropLast())), behindColon: value)
            }
            if isComplete { return try HTTPField(ofConnection: name, value: value) }
            return try HTTPField(name: name, value: value)
        } catch {
            throw .invalidParams(
                path: path, message: error.description, expected: "a header field that the client may send")
        }
    }
}
