/// The cookies of a jar in lists by their site: the public suffix with one label before it, or the host itself.
///
/// A host and all domains whose cookies it gets are of one site.
struct CookieSites {
    private var lists: [String: [CookieJar.Entry]] = [:]
    /// The sites of hosts, because to find one takes a microsecond.
    private var known: [String: String] = [:]

    private static let maximumKnown = 256

    /// The cookies of the site of a domain.
    subscript(_ domain: String) -> [CookieJar.Entry] {
        lists[known[domain] ?? PublicSuffixes.registrableDomain(of: domain)] ?? []
    }

    /// Changes the cookies of the site of a domain, in place: a copy of the list costs more than the rest.
    mutating func change(_ domain: String, _ body: (inout [CookieJar.Entry]) -> Void) {
        let site = self.site(of: domain)
        if let index = lists.index(forKey: site) {
            body(&lists.values[index])
            if lists.values[index].isEmpty { lists.remove(at: index) }
            return
        }
        var entries: [CookieJar.Entry] = []
        body(&entries)
        if !entries.isEmpty { lists[site] = entries }
    }

    private mutating func site(of domain: String) -> String {
        if let site = known[domain] { return site }
        let site = PublicSuffixes.registrableDomain(of: domain)
        if known.count >= CookieSites.maximumKnown { known = [:] }
        known[domain] = site
        return site
    }

    /// Changes the cookies of all sites.
    mutating func changeAll(_ body: (inout [CookieJar.Entry]) -> Void) {
        for site in Array(lists.keys) {
            guard let index = lists.index(forKey: site) else { continue }
            body(&lists.values[index])
            if lists.values[index].isEmpty { lists.remove(at: index) }
        }
    }

    func forEach(_ body: (CookieJar.Entry) -> Void) {
        for entries in lists.values { entries.forEach(body) }
    }
}
