internal import CarpoolCaller
internal import CarpoolJSON

/// The options of the cache.
struct CachePolicyArguments: Equatable {
    /// `nil` for the session's.
    private(set) var policy: String?
    /// How long the response is fresh, in milliseconds; `nil` for what it says.
    var ttlMilliseconds: Int?

    /// The values of `--cache`.
    static let policies = [
        "use_protocol", "reload_ignoring_cache", "return_cache_else_load", "return_cache_dont_load",
        "reload_revalidating", "no_store",
    ]
    /// The policies by their words in the `fetch` of browsers, and their headers' words.
    private static let otherWords = [
        "default": "use_protocol", "reload": "reload_ignoring_cache", "no-cache": "reload_revalidating",
        "force-cache": "return_cache_else_load", "only-if-cached": "return_cache_dont_load", "no-store": "no_store",
    ]
    /// The policy of `--offline`.
    private static let offline = "return_cache_dont_load"

    /// Takes the value of `--cache`.
    mutating func setPolicy(_ text: String) throws(UsageError) {
        guard CachePolicyArguments.policies.contains(text) else {
            let near =
                CachePolicyArguments.otherWords[text]
                ?? NearestName.find(text, among: CachePolicyArguments.policies)
            let suggestion = near.map { "; did you mean \($0)?" } ?? ""
            let list = CachePolicyArguments.policies.joined(separator: ", ")
            throw UsageError("--cache takes one of \(list), not '\(text)'\(suggestion)")
        }
        try set(text)
    }

    /// Takes `--offline`.
    mutating func setOffline() throws(UsageError) { try set(CachePolicyArguments.offline) }

    private mutating func set(_ new: String) throws(UsageError) {
        let isOffline = policy == CachePolicyArguments.offline || new == CachePolicyArguments.offline
        guard !isOffline || policy == nil || policy == new else {
            throw UsageError("--offline is --cache \(CachePolicyArguments.offline), and excludes another --cache")
        }
        policy = new
    }

    /// Writes the parameter `cache`. A span means that the response is stored, that of a download too.
    func write(to writer: inout JSONWriter, isDownload: Bool) {
        guard ttlMilliseconds != nil else { return writer.member("cache", policy) }
        writer.key("cache")
        writer.beginObject()
        writer.member("policy", policy)
        writer.member("ttl_ms", ttlMilliseconds)
        if isDownload { writer.member("store_downloads", true) }
        writer.endObject()
    }
}
