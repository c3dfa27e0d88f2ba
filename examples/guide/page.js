// The menu marks the section in view, and the link to the other language leads to the same section.
const menu = document.querySelector('.menu');
const links = [...menu.querySelectorAll('details a')], sections = links.filter(link => link.closest('ol ol'));
const other = document.getElementById('other');
const headings = [...document.querySelectorAll('main :is(h1, h2)[id]')];
let marked;

function mark() {
  const above = headings.filter(heading => heading.getBoundingClientRect().top < innerHeight * 0.3);
  const heading = above.at(-1) ?? headings[0];
  if (heading === marked) return;
  marked = heading;
  other.hash = heading === headings[0] ? '' : heading.id;
  for (const link of sections) link.removeAttribute('aria-current');
  const link = sections.find(link => link.getAttribute('href') === '#' + heading.id);
  if (!link) return;
  link.setAttribute('aria-current', 'location');
  const {top, bottom} = link.getBoundingClientRect();
  if (top < 0 || bottom > innerHeight) menu.scrollTop += (top + bottom - innerHeight) / 2;
}
const observer = new IntersectionObserver(mark, {rootMargin: '0px 0px -70% 0px'});
for (const heading of headings) observer.observe(heading);
mark();

// An old link to a section that is on another page now.
if (location.hash && !document.getElementById(decodeURIComponent(location.hash.slice(1)))) {
  const link = links.find(link => link.hash === location.hash);
  if (link) location.replace(link.href);
}

// In a narrow window the menu closes when a section is chosen.
for (const link of links)
  link.addEventListener('click', () => {
    if (innerWidth < 1000) document.getElementById('chapters').open = false;
  });
