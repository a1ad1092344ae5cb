/// The method of a request.
enum CurlMethod {
    /// What a request carries, as far as its method depends on it.
    enum Body: Equatable {
        case none
        /// `-d`, `-F` and the like.
        case post
        /// `-T`
        case upload
    }

    /// The method that curl sends: that of `-X`, or the one of the body.
    static func of(_ request: CurlRequestOptions, _ body: Body) -> String {
        if let method = request.method { return method }
        if request.isHead { return "HEAD" }
        return switch body {
        case .none: "GET"
        case .post: "POST"
        case .upload: "PUT"
        }
    }

    /// What a request carries by its options; a target with `-T` is an upload.
    static func body(_ request: CurlRequestOptions, isUpload: Bool) -> Body {
        if isUpload { return .upload }
        if !request.form.isEmpty { return .post }
        return request.data.isEmpty || request.isGet ? .none : .post
    }
}
