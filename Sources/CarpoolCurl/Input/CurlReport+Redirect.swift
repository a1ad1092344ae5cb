extension CurlReport {
    /// The URL that a redirect leads to which was not followed.
    package var redirectTarget: String? {
        guard (300..<400).contains(status),
            let location = headers.first(where: { $0.name.lowercased() == "location" })?.value
        else { return nil }
        guard let url = try? CurlURL(effectiveURL) else { return location }
        return CurlRedirect.target(Array(location.utf8), from: url)
    }
}
