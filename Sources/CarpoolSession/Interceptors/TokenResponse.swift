internal import CarpoolJSON

/// The response of a token endpoint (RFC 6749, sections 5.1 and 5.2).
struct TokenResponse {
    /// The most scalars of a text that are copied from a response.
    private static let textLength = 256

    let status: Int
    let body: [UInt8]

    /// Returns the new credential.
    /// - Parameters:
    ///   - old: its refresh token is kept where the response has none; `nil` if this is the first one.
    ///   - now: microseconds since 1970.
    ///   - secrets: texts that must not appear in an error, even if the endpoint returns them.
    func credential(
        after old: OAuth2Credential?, now: Int64, secrets: [String]
    ) throws(SessionError) -> OAuth2Credential {
        let json = try? JSON.parse(body)
        guard (200...299).contains(status) else { throw refusal(json, secrets: secrets) }
        guard let json, let token = json["access_token"]?.string, !token.isEmpty else {
            throw failure("the token endpoint's response has no access_token")
        }
        if let type = json["token_type"]?.string, type.lowercased() != "bearer" {
            throw failure("the token endpoint returned a token of another type than Bearer")
        }
        guard SetHeaderAdapter.bearerField(token) != nil else { throw .unusableCredential }
        return OAuth2Credential(
            accessToken: token, refreshToken: json["refresh_token"]?.string ?? old?.refreshToken,
            expires: TokenResponse.seconds(json["expires_in"]).map { TokenResponse.point(now, after: $0) })
    }

    private func refusal(_ json: JSON?, secrets: [String]) -> SessionError {
        guard let name = shown(json?["error"]?.string, secrets) else {
            return failure("the token endpoint returned status \(status)")
        }
        let description = shown(json?["error_description"]?.string, secrets)
        let message = "the token endpoint returned an error: \(name)\(description.map { ": \($0)" } ?? "")"
        var details = [SessionError.Detail("code", .integer(status)), SessionError.Detail("error", .string(name))]
        if let description { details.append(SessionError.Detail("error_description", .string(description))) }
        return .refreshFailed(message, details: details)
    }

    private func failure(_ message: String) -> SessionError {
        .refreshFailed(message, details: [SessionError.Detail("code", .integer(status))])
    }

    /// Returns a text of the endpoint if it may be shown: of bounded length, in the characters that the standard
    /// allows, and without secrets.
    private func shown(_ text: String?, _ secrets: [String]) -> String? {
        guard let text, !text.isEmpty else { return nil }
        guard !secrets.contains(where: { !$0.isEmpty && text.contains($0) }) else {
            return "(withheld: contains a secret)"
        }
        let plain = text.unicodeScalars.prefix(TokenResponse.textLength)
            .map { (0x20...0x7E).contains($0.value) ? $0 : "?" }
        return String(String.UnicodeScalarView(plain))
    }

    /// Reads a number, or one in quotation marks, as some endpoints write it.
    private static func seconds(_ json: JSON?) -> Double? {
        let seconds = json?.double ?? json?.string.flatMap { Double($0) }
        return seconds?.isFinite == true ? seconds : nil
    }

    private static func point(_ now: Int64, after seconds: Double) -> Int64 {
        // Limited to a hundred years, so that nothing overflows.
        let bounded = min(max(seconds, 0), 3_155_760_000)
        return now &+ Int64(bounded * 1_000_000)
    }
}
