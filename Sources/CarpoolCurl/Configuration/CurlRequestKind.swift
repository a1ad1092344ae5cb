/// The kinds of requests, of which curl allows one for the URLs of an operation.
enum CurlRequestKind: String {
    case get = "GET (-G, --get)"
    case head = "HEAD (-I, --head)"
    case form = "multipart formpost (-F, --form)"
    case post = "POST (-d, --data)"
    case put = "PUT (-T, --upload-file)"
}

extension CurlRequestKind? {
    /// Sets the kind; returns curl's warning if it was another one.
    mutating func select(_ kind: CurlRequestKind) -> String? {
        guard let other = self, other != kind else {
            self = kind
            return nil
        }
        return "You can only select one HTTP request method! You asked for both \(kind.rawValue) and \(other.rawValue)."
    }
}
