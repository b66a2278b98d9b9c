import type { FoundService, OpenMulticast } from "@farmgate/wire";

/** Multicast among those who open it. */
export function fakeNetwork(): { open: OpenMulticast; services: FoundService[] } {
  const services: FoundService[] = [];
  const listeners: ((service: FoundService) => void)[] = [];
  const open: OpenMulticast = async () => {
    const own: FoundService[] = [];
    return {
      announce(service) {
        const found = { ...service, host: "here.local", addresses: ["127.0.0.1"] };
        own.push(found);
        services.push(found);
        for (const listener of listeners) listener(found);
      },
      browse(found) {
        listeners.push(found);
        for (const service of services) found(service);
      },
      async close() {
        for (const service of own) services.splice(services.indexOf(service), 1);
      },
    };
  };
  return { open, services };
}
