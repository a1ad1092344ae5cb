internal import CarpoolHTTP
internal import CarpoolSystem
internal import Glibc

/// Accepts responses by the type of their body (VA-04 to VA-06).
public struct ContentTypeValidator: ResponseValidator {
    /// The acceptable types, like `application/json` or `text/*`. An invalid one matches nothing; without any, every
    /// body fails.
    public let acceptable: [String]

    /// Accepts these types and no others.
    public init(_ acceptable: [String]) { self.acceptable = acceptable }

    /// `content_type`
    public var name: String { "content_type" }

    /// It looks at the head alone.
    public var needsHeadAlone: Bool { true }

    /// Fails with `response_validation_failed.unacceptable_content_type`, or `.missing_content_type` where the response
    /// has no type, unless any type is acceptable (VA-05). A response without a body passes; one whose body file is
    /// missing fails with `.data_file_read_failed` (DL-15).
    public func validate(_ request: Request, completion: @escaping (SessionError?) -> Void) {
        guard request.body.count > 0, let path = request.body.path else { return completion(failure(of: request)) }
        let look: @Sendable () -> SystemError? = {
            SystemPath.withBytes(path) { access($0, R_OK) } == 0 ? nil : .last("open", path)
        }
        request.inBackground(look) { error in
            completion(error.map { .dataFileReadFailed(path, $0) } ?? failure(of: request))
        }
    }

    private func failure(of request: Request) -> SessionError? {
        guard let response = request.response, request.body.count > 0 else { return nil }
        let types = acceptable.compactMap { MIMEType($0) }
        guard let type = response.fields.first("content-type").flatMap({ MIMEType($0) }) else {
            return types.contains(where: \.isWildcard) ? nil : .missingContentType(acceptable: acceptable)
        }
        guard !types.contains(where: { $0.matches(type) }) else { return nil }
        return .unacceptableContentType(type, acceptable: acceptable)
    }
}
